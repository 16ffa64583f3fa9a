# ct_embed(TARGET html_assets TABLE assets.def PREFIX ct_html): a static library with files in it, as they are.
#
# A row of the table reads KIND(name, "file"). The files of one kind, in the order of the table, are put together into one
# (Bundle.cmake) and become `extern const char PREFIX_kind[], PREFIX_kind_end[]`, by .incbin of the assembler, which gcc and
# clang both have; PREFIX_kind_sha256 is its hash in base64, as a string. An edited file is taken in by the next build.
enable_language(ASM)

function(ct_embed)
	cmake_parse_arguments(E "" "TARGET;TABLE;PREFIX" "" ${ARGN})
	get_filename_component(table ${E_TABLE} ABSOLUTE)
	get_filename_component(from ${table} DIRECTORY)
	set(to ${CMAKE_CURRENT_BINARY_DIR}/${E_TARGET})
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
	file(STRINGS ${table} rows REGEX "^[A-Z]+\\([a-z_0-9]+, \"[^\"]+\"\\)$")
	set(kinds "")
	set(assembly "")
	set(bundles "")
	foreach(row IN LISTS rows)
		string(REGEX MATCH "^([A-Z]+)\\([a-z_0-9]+, \"([^\"]+)\"\\)$" all "${row}")
		string(TOLOWER ${CMAKE_MATCH_1} kind)
		list(APPEND kinds ${kind})
		list(APPEND files_${kind} ${from}/${CMAKE_MATCH_2})
	endforeach()
	list(REMOVE_DUPLICATES kinds)
	foreach(kind IN LISTS kinds)
		set(bundle ${to}/${kind})
		add_custom_command(OUTPUT ${bundle} ${bundle}.sha256
			COMMAND ${CMAKE_COMMAND} -D "FILES=${files_${kind}}" -D OUT=${bundle}
				-P ${PROJECT_SOURCE_DIR}/tools/cmake/Bundle.cmake
			DEPENDS ${files_${kind}} ${PROJECT_SOURCE_DIR}/tools/cmake/Bundle.cmake
			VERBATIM)
		list(APPEND bundles ${bundle} ${bundle}.sha256)
		foreach(part IN ITEMS "" "_sha256")
			string(REPLACE "_" "." suffix "${part}")
			set(symbol ${E_PREFIX}_${kind}${part})
			string(APPEND assembly
				"\t.global ${symbol}, ${symbol}_end\n\t.hidden ${symbol}, ${symbol}_end\n"
				"${symbol}:\n\t.incbin \"${bundle}${suffix}\"\n${symbol}_end:\n\t.byte 0\n")
		endforeach()
	endforeach()
	file(CONFIGURE OUTPUT ${to}.S @ONLY
		CONTENT "\t.section .rodata\n${assembly}\t.section .note.GNU-stack,\"\",%progbits\n")
	set_source_files_properties(${to}.S PROPERTIES OBJECT_DEPENDS "${bundles}")
	add_library(${E_TARGET} STATIC ${to}.S)
	set_target_properties(${E_TARGET} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
