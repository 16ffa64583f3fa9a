# CT_TORCH_PYTHON: the Python that has torch; Debian's own is asked first. Empty: none has.
include_guard(GLOBAL)
set(CT_TORCH_PYTHON "")
foreach(python IN ITEMS /usr/bin/python3 python3)
	execute_process(COMMAND ${python} -c "import importlib.util as u; exit(not u.find_spec('torch'))"
		RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
	if(status EQUAL 0)
		set(CT_TORCH_PYTHON ${python})
		break()
	endif()
endforeach()
