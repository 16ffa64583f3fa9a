# The libraries that the project is built from, as targets ct_zstd, ct_jansson, ct_zlib, ct_deflate, ct_elf,
# ct_ncurses and ct_protobuf_c. All are linked
# statically: libcommtrace.so may need nothing but libc, and the CLI runs on machines that have none of them.
function(ct_find_static name header archive package)
	find_path(CT_${name}_INCLUDE ${header})
	find_library(CT_${name}_ARCHIVE ${archive})
	if(NOT CT_${name}_INCLUDE OR NOT CT_${name}_ARCHIVE)
		message(FATAL_ERROR "${header} or ${archive} is missing: apt-get install ${package}")
	endif()
	add_library(ct_${name} STATIC IMPORTED GLOBAL)
	set_target_properties(ct_${name} PROPERTIES
		IMPORTED_LOCATION ${CT_${name}_ARCHIVE}
		INTERFACE_INCLUDE_DIRECTORIES ${CT_${name}_INCLUDE})
endfunction()

ct_find_static(zstd zstd.h libzstd.a libzstd-dev)
ct_find_static(jansson jansson.h libjansson.a libjansson-dev)
ct_find_static(zlib zlib.h libz.a zlib1g-dev)
ct_find_static(deflate libdeflate.h libdeflate.a libdeflate-dev)
ct_find_static(elf libelf.h libelf.a libelf-dev)
target_link_libraries(ct_elf INTERFACE ct_zlib)
ct_find_static(tinfo curses.h libtinfo.a libncurses-dev)
ct_find_static(ncurses curses.h libncurses.a libncurses-dev)
target_link_libraries(ct_ncurses INTERFACE ct_tinfo)
ct_find_static(protobuf_c protobuf-c/protobuf-c.h libprotobuf-c.a libprotobuf-c-dev)
find_program(CT_PROTOC_C protoc-c)
if(NOT CT_PROTOC_C)
	message(FATAL_ERROR "protoc-c is missing: apt-get install protobuf-c-compiler")
endif()
find_package(Threads REQUIRED)
