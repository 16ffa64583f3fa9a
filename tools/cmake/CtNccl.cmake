# The real NCCL, for tests only; what is built needs none. CT_NCCL_LIBRARY (a libnccl.so.2) and CT_NCCL_INCLUDES (for
# nccl.h) are set if it is there, beside the CUDA Toolkit or where a system keeps its libraries, and not older than 2.18,
# which brought the youngest function that the tests call.
set(CT_NCCL_INCLUDES "")
find_package(CUDAToolkit QUIET)
find_path(CT_NCCL_H nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_path(CT_CUDA_RUNTIME_H cuda_runtime.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(CT_NCCL_LIBRARY NAMES libnccl.so.2 HINTS ${CUDAToolkit_LIBRARY_DIR})
if(CT_NCCL_H AND CT_CUDA_RUNTIME_H AND CT_NCCL_LIBRARY)
	file(STRINGS ${CT_NCCL_H}/nccl.h versions REGEX "#define NCCL_(MAJOR|MINOR) ")
	string(REGEX REPLACE "[^0-9;]" "" versions "${versions}")
	string(REPLACE ";" "." version "${versions}")
	if(version VERSION_GREATER_EQUAL 2.18)
		set(CT_NCCL_INCLUDES ${CT_NCCL_H} ${CT_CUDA_RUNTIME_H})
		list(REMOVE_DUPLICATES CT_NCCL_INCLUDES)
	endif()
endif()
