# How a test is registered. Names are AREA.WHAT; the area is a label of its own. What cannot run on a machine is
# not registered there; nothing is ever skipped.
#
#   ct_test(NAME unit.ring SOURCES test_ring.c LIBS ct_trace_write LABELS tsan TIMEOUT 30)
#       one cmocka program, built in the test's own folder of the build tree
#   ct_script_test(NAME rules.arrows COMMAND arrows.sh ARGS... TIMEOUT 30)
#       a script; a first word without '/' that names a file beside the CMakeLists.txt is that file
#   ct_fuzz(NAME fuzz.ring SOURCES fuzz_ring.c LIBS ct_trace_read SEEDS DIR TIMEOUT 60)
#       LLVMFuzzerTestOneInput in SOURCES: under clang with CT_SANITIZE=address,... a bounded libFuzzer run
#       starting from the files of DIR, elsewhere a replay of those files
#   ct_bench(bench_codec SOURCES bench_codec.c LIBS ...)
#       a program for tests/gates.sh; not a test, since its figures need a quiet machine
#
# COMMTRACE_BUDGET is off: on a busy machine it would leave operations without times that a test looks at.
# The tree of the thread sanitizer has only the programs that are labelled tsan, that of the address sanitizer those of unit and fuzz:
# what is not run there (tools/test.sh) is not built. Their build presets build the target ct_sanitized_tests, to which programs that
# only a script starts are to be added.
# All tests: SERIAL (nothing runs beside it), ENV NAME=VALUE... ; in the environment CT_ROOT is the repository
# and CT_BUILD the build tree. TIMEOUT is how long it may take on an idle machine; it ends after five times that.
find_path(CT_CMOCKA_INCLUDE cmocka.h)
find_library(CT_CMOCKA_LIBRARY cmocka)
if(NOT CT_CMOCKA_INCLUDE OR NOT CT_CMOCKA_LIBRARY)
	message(FATAL_ERROR "cmocka.h is missing: apt-get install libcmocka-dev (or configure with -DCT_TESTS=OFF)")
endif()
add_library(ct_cmocka INTERFACE)
target_include_directories(ct_cmocka SYSTEM INTERFACE ${CT_CMOCKA_INCLUDE})
target_link_libraries(ct_cmocka INTERFACE ${CT_CMOCKA_LIBRARY})

# Sanitizers of clang 14 do not start where the kernel spreads mappings widely; setarch -R asks it not to. Containers
# may forbid that, and then do without.
set(CT_LAUNCHER "")
if(CT_SANITIZE)
	execute_process(COMMAND setarch -R true RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
	if(status EQUAL 0)
		set(CT_LAUNCHER setarch -R)
	endif()
endif()

# What the tests of a sanitized tree need, and nothing else.
add_custom_target(ct_sanitized_tests)

set(CT_TEST_OPTIONS SERIAL)
set(CT_TEST_VALUES NAME TIMEOUT)
set(CT_TEST_LISTS LABELS ENV)

macro(ct_parse_test values lists)
	cmake_parse_arguments(T "${CT_TEST_OPTIONS}" "${CT_TEST_VALUES};${values}" "${CT_TEST_LISTS};${lists}" ${ARGN})
	if(T_UNPARSED_ARGUMENTS OR NOT T_NAME)
		message(FATAL_ERROR "test '${T_NAME}': do not understand '${T_UNPARSED_ARGUMENTS}'")
	endif()
endmacro()

function(ct_test_properties)
	string(REGEX REPLACE "\\..*" "" area ${T_NAME})
	list(APPEND T_LABELS ${area})
	list(REMOVE_DUPLICATES T_LABELS)
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT 60)
	endif()
	# Those that may take longest begin first, so that no core waits for the last one alone.
	set(T_COST ${T_TIMEOUT})
	# The limit is for what never ends, not for a machine on which others work, or a sanitizer.
	math(EXPR T_TIMEOUT "${T_TIMEOUT} * 5")
	set_tests_properties(${T_NAME} PROPERTIES COST ${T_COST}
		LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT} RUN_SERIAL "${T_SERIAL}"
		ENVIRONMENT "CT_ROOT=${PROJECT_SOURCE_DIR};CT_BUILD=${PROJECT_BINARY_DIR};COMMTRACE_BUDGET=off;${T_ENV}")
endfunction()

function(ct_program target)
	cmake_parse_arguments(P "" "" "SOURCES;LIBS" ${ARGN})
	add_executable(${target} ${P_SOURCES})
	target_link_libraries(${target} PRIVATE ct_flags ${P_LIBS} Threads::Threads)
	set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

function(ct_test)
	ct_parse_test("" "SOURCES;LIBS" ${ARGN})
	string(REPLACE "." "_" program "${T_NAME}")
	ct_program(${program} SOURCES ${T_SOURCES} LIBS ${T_LIBS} ct_cmocka)
	if((CT_SANITIZE STREQUAL "thread" AND NOT "tsan" IN_LIST T_LABELS) OR
	   (CT_SANITIZE MATCHES "address" AND NOT T_NAME MATCHES "^unit[.]"))
		set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ON)
		return()
	endif()
	add_test(NAME ${T_NAME} COMMAND ${CT_LAUNCHER} $<TARGET_FILE:${program}>)
	ct_test_properties()
	add_dependencies(ct_sanitized_tests ${program})
endfunction()

function(ct_script_test)
	ct_parse_test("" "COMMAND" ${ARGN})
	list(POP_FRONT T_COMMAND script)
	if(NOT script MATCHES "/" AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${script})
		set(script ${CMAKE_CURRENT_SOURCE_DIR}/${script})
	endif()
	add_test(NAME ${T_NAME} COMMAND ${CT_LAUNCHER} ${script} ${T_COMMAND})
	ct_test_properties()
endfunction()

set(CT_FUZZ_SECONDS 10 CACHE STRING "how long each fuzz target runs as a test")
function(ct_fuzz)
	ct_parse_test("SEEDS" "SOURCES;LIBS" ${ARGN})
	string(REPLACE "." "_" program "${T_NAME}")
	get_filename_component(seeds ${T_SEEDS} ABSOLUTE)
	if(CT_FUZZER)
		ct_program(${program} SOURCES ${T_SOURCES} LIBS ct_fuzzed ${T_LIBS})
		target_link_options(${program} PRIVATE -fsanitize=fuzzer)
		# What it finds new goes to the build tree, never into the seeds.
		file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${program}.corpus)
		add_test(NAME ${T_NAME} COMMAND ${CT_LAUNCHER} $<TARGET_FILE:${program}> -max_total_time=${CT_FUZZ_SECONDS} -rss_limit_mb=1024
			-timeout=10 -print_final_stats=1 ${program}.corpus ${seeds})
	else()
		ct_program(${program} SOURCES ${T_SOURCES} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c LIBS ${T_LIBS})
		add_test(NAME ${T_NAME} COMMAND ${CT_LAUNCHER} $<TARGET_FILE:${program}> ${seeds})
	endif()
	add_dependencies(ct_sanitized_tests ${program})
	ct_test_properties()
endfunction()

function(ct_bench target)
	ct_program(${target} ${ARGN})
endfunction()
