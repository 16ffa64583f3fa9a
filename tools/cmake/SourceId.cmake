# cmake -D SOURCE=DIR -D OUT=FILE.c -P SourceId.cmake: writes which commit DIR is, if that changed; "unknown" outside git.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
	OUTPUT_VARIABLE id OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
	set(id unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#include \"tools/commtrace/source_id.h\"\n\nconst char ct_source_id[] = \"${id}\";\n")
