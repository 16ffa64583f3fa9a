# What Gloo's ranks move, counted by someone else behind the tracer.
ct_program(list_traffic SOURCES list_traffic.c evidence.c LIBS ct_analyzer)
add_library(gloo_shim SHARED gloo_shim.c)
target_link_libraries(gloo_shim PRIVATE ct_flags ${CMAKE_DL_LIBS})
set_target_properties(gloo_shim PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
ct_script_test(NAME interpose.gloo_traffic COMMAND gloo_traffic.sh TIMEOUT 120 ENV CT_GLOO_JOB=$<TARGET_FILE:gloo_job>)

# A copy of Gloo linked into a library, in each of the ways there are.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/gloo_part.map "{ global: part_*; local: *; };\n")
foreach(part IN ITEMS "visible 1 -Wl,-z,now" "other 2 -Wl,-z,now" "symbolic 3 -Wl,-Bsymbolic-functions"
	"hidden 4 -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/gloo_part.map")
	separate_arguments(part)
	list(GET part 0 way)
	list(GET part 1 id)
	list(GET part 2 flag)
	add_library(gloo_part_${way} MODULE gloo_part.c)
	target_compile_definitions(gloo_part_${way} PRIVATE COPY_ID=${id})
	target_compile_options(gloo_part_${way} PRIVATE -fsemantic-interposition -fno-inline)
	target_link_libraries(gloo_part_${way} PRIVATE ct_flags ${flag})
	set_target_properties(gloo_part_${way} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
endforeach()
ct_program(gloo_parts SOURCES gloo_parts.c LIBS fake_c10d ${CMAKE_DL_LIBS})

# Two libraries over Gloo, one of them with a copy of its own: what that one is linked with has nothing in it here.
foreach(id IN ITEMS 1 2)
	add_library(gloo_user${id} SHARED gloo_user.cc)
	set_target_properties(gloo_user${id} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
		BUILD_WITH_INSTALL_RPATH ON)
endforeach()
add_library(gloo_other SHARED ${CMAKE_CURRENT_BINARY_DIR}/nothing.c)
set_target_properties(gloo_other PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(gloo_user1 PRIVATE ct_flags gloo)
target_link_libraries(gloo_user2 PRIVATE ct_flags -Wl,--no-as-needed gloo_other -Wl,--unresolved-symbols=ignore-all)
ct_program(gloo_users SOURCES gloo_users.c LIBS ${CMAKE_DL_LIBS})
ct_script_test(NAME interpose.gloo_copies COMMAND gloo_copies.sh TIMEOUT 120)
