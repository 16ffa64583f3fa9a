# OpenMPI and MPICH side by side, as Debian installs them: CT_MPI_FLAVOURS is the list of those that are there (openmpi,
# mpich), CT_MPI_FORTRAN of those that compile Fortran as well. Only tests and examples need them: libcommtrace.so is built
# without, and what needs a flavour that is not there is not built and not registered.
#
#   ct_mpi_program(NAME stencil SOURCES stencil.c [LIBS m] [DIRECTORY DIR])
#       one program for each flavour: targets and files stencil.openmpi and stencil.mpich, in DIR (the folder's own in the
#       build tree). C is compiled as everything else here is; Fortran (.f90, .F90) by the flavour's own mpifort: one source,
#       and OPTIONS for the compiler.
#   ct_mpi_test(NAME mpi.stencil COMMAND stencil.sh ARGS... TIMEOUT 60 [FLAVOURS openmpi] [FORTRAN])
#       a script test for each flavour, mpi.stencil_openmpi and mpi.stencil_mpich; in its environment CT_MPI is the
#       flavour. tests/mpi/mpi.sh starts jobs by it. FORTRAN: where Fortran is compiled.
#
# The top includes it, so that its lists are known in every folder; ct_mpi_test needs CtTest.
include_guard(GLOBAL)

set(CT_MPI_FLAVOURS "")
set(CT_MPI_FORTRAN "")
foreach(flavour IN ITEMS openmpi mpich)
	find_program(CT_MPICC_${flavour} mpicc.${flavour})
	find_program(CT_MPIRUN_${flavour} mpirun.${flavour})
	find_program(CT_MPIFORT_${flavour} mpifort.${flavour})
	if(NOT CT_MPICC_${flavour} OR NOT CT_MPIRUN_${flavour})
		continue()
	endif()
	list(APPEND CT_MPI_FLAVOURS ${flavour})
	# Both print the whole command; what is to be known of it stands there as -I, -L and -l.
	execute_process(COMMAND ${CT_MPICC_${flavour}} -show OUTPUT_VARIABLE shown ERROR_QUIET)
	separate_arguments(shown UNIX_COMMAND "${shown}")
	add_library(ct_mpi_${flavour} INTERFACE)
	foreach(word IN LISTS shown)
		if(word MATCHES "^-I(.+)")
			target_include_directories(ct_mpi_${flavour} SYSTEM INTERFACE ${CMAKE_MATCH_1})
		elseif(word MATCHES "^-L(.+)")
			target_link_directories(ct_mpi_${flavour} INTERFACE ${CMAKE_MATCH_1})
		elseif(word MATCHES "^-l(.+)")
			target_link_libraries(ct_mpi_${flavour} INTERFACE ${CMAKE_MATCH_1})
		endif()
	endforeach()
	# MPI_STATUSES_IGNORE and the like are no addresses, but gcc takes them for such.
	target_compile_options(ct_mpi_${flavour} INTERFACE
		$<$<C_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-stringop-overread>)
	# The wrapper may be there without a compiler behind it.
	if(CT_MPIFORT_${flavour})
		file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/mpi_${flavour}.f90 "use mpi_f08\ncall MPI_Init()\nend\n")
		execute_process(COMMAND ${CT_MPIFORT_${flavour}} -fsyntax-only ${CMAKE_BINARY_DIR}/CMakeFiles/mpi_${flavour}.f90
			RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
		if(status EQUAL 0)
			list(APPEND CT_MPI_FORTRAN ${flavour})
		endif()
	endif()
endforeach()

# For every folder, whichever came first.
set(CT_MPI_FLAVOURS "${CT_MPI_FLAVOURS}" CACHE INTERNAL "")
set(CT_MPI_FORTRAN "${CT_MPI_FORTRAN}" CACHE INTERNAL "")

# One Fortran source into one program; modules that it makes lie in a folder of their own. gfortran warns of every buffer
# whose type differs from that of the call before: MPI takes any.
function(ct_mpi_fortran target flavour source directory options)
	set(modules ${CMAKE_CURRENT_BINARY_DIR}/${target}.mod)
	file(MAKE_DIRECTORY ${modules} ${directory})
	add_custom_command(OUTPUT ${directory}/${target}
		COMMAND ${CT_MPIFORT_${flavour}} -g -O1 -w -J${modules} ${options} -o ${directory}/${target} ${source}
		DEPENDS ${source} VERBATIM)
	add_custom_target(${target}_fortran ALL DEPENDS ${directory}/${target})
endfunction()

function(ct_mpi_program)
	cmake_parse_arguments(M "" "NAME;DIRECTORY" "SOURCES;LIBS;OPTIONS" ${ARGN})
	if(NOT M_DIRECTORY)
		set(M_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
	endif()
	if(M_SOURCES MATCHES "\\.[fF]90$")
		foreach(flavour IN LISTS CT_MPI_FORTRAN)
			get_filename_component(source ${M_SOURCES} ABSOLUTE)
			ct_mpi_fortran(${M_NAME}.${flavour} ${flavour} ${source} ${M_DIRECTORY} "${M_OPTIONS}")
		endforeach()
		return()
	endif()
	foreach(flavour IN LISTS CT_MPI_FLAVOURS)
		add_executable(${M_NAME}.${flavour} ${M_SOURCES})
		target_link_libraries(${M_NAME}.${flavour} PRIVATE ct_flags ${M_LIBS} ct_mpi_${flavour} Threads::Threads)
		set_target_properties(${M_NAME}.${flavour} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${M_DIRECTORY})
	endforeach()
endfunction()

function(ct_mpi_test)
	cmake_parse_arguments(M "SERIAL;FORTRAN" "NAME;TIMEOUT" "COMMAND;LABELS;ENV;FLAVOURS" ${ARGN})
	set(flavours ${CT_MPI_FLAVOURS})
	if(M_FORTRAN)
		set(flavours ${CT_MPI_FORTRAN})
	endif()
	if(M_SERIAL)
		set(serial SERIAL)
	endif()
	foreach(flavour IN LISTS flavours)
		if(M_FLAVOURS AND NOT flavour IN_LIST M_FLAVOURS)
			continue()
		endif()
		ct_script_test(NAME ${M_NAME}_${flavour} COMMAND ${M_COMMAND} TIMEOUT ${M_TIMEOUT} LABELS mpi ${M_LABELS}
			ENV CT_MPI=${flavour} ${M_ENV} ${serial})
	endforeach()
endfunction()
