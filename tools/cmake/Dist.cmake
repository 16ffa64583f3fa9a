# Target `dist`: a tarball for people without root or compiler. It holds the static CLI, the library and a sample run.
if(NOT CT_SANITIZE)
	set(CT_DIST ${PROJECT_NAME}-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
	add_custom_target(dist
		COMMAND ${PROJECT_SOURCE_DIR}/.ci/dist.sh ${PROJECT_BINARY_DIR} ${CT_DIST}
		DEPENDS commtrace commtrace_preload
		COMMENT "${CT_DIST}.tar.gz"
		USES_TERMINAL VERBATIM)
endif()
