# ct_flags: what every target of the project is compiled with. Link it PRIVATE.
add_library(ct_flags INTERFACE)
target_include_directories(ct_flags INTERFACE ${PROJECT_SOURCE_DIR})
# _GNU_SOURCE is empty, as `#define _GNU_SOURCE` makes it, so that a file may still say it by itself.
# g++ defines it by itself, as 1.
target_compile_definitions(ct_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE=> CT_RELEASE="${PROJECT_VERSION}")

set(c_only -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition)
target_compile_options(ct_flags INTERFACE
	-Wall -Wextra -Wshadow -Wformat=2 -Wundef -Wvla -Wpointer-arith -Wcast-qual -Wwrite-strings
	"$<$<COMPILE_LANGUAGE:C>:${c_only}>"
	-fvisibility=hidden -fno-strict-aliasing -fno-common)
if(CT_WERROR)
	target_compile_options(ct_flags INTERFACE -Werror)
endif()

# Without optimization gcc warns of copies on branches that it inlines and never takes.
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
	target_compile_options(ct_flags INTERFACE -Wno-stringop-overflow -Wno-stringop-overread)
endif()

if(CT_SANITIZE)
	target_compile_options(ct_flags INTERFACE
		-fsanitize=${CT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(ct_flags INTERFACE -fsanitize=${CT_SANITIZE})
	if(CT_SANITIZE STREQUAL "thread" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
		# gcc says that it cannot model fences; the ring needs none of them to be free of races.
		target_compile_options(ct_flags INTERFACE -Wno-tsan)
	endif()
endif()

# CT_FUZZER: libFuzzer comes with clang only, and only the address build feeds it. ct_fuzzed: what the targets of tests/fuzz look
# into, which reports it of each branch and comparison. Everything else would only be slower for it.
set(CT_FUZZER OFF)
add_library(ct_fuzzed INTERFACE)
if(CT_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID MATCHES "Clang")
	set(CT_FUZZER ON)
	target_compile_options(ct_fuzzed INTERFACE -fsanitize=fuzzer-no-link)
endif()
