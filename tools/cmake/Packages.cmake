# Target `dist`: a tarball, a Debian package and a Python wheel in BUILD/packages, each with what Install.cmake installs. They run
# without root or compiler: the CLI is static, and the library needs glibc ${CT_GLIBC_FLOOR} (rules.glibc_versions).
set(CT_GLIBC_FLOOR 2.28)
set(CPACK_PACKAGE_NAME ${PROJECT_NAME})
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_CONTACT "the commtrace authors")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
# Modes do not follow the umask of who builds.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_ARCHIVE_FILE_NAME ${PROJECT_NAME}-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_FILE_NAME ${CPACK_ARCHIVE_FILE_NAME})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${CT_GLIBC_FLOOR})")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)

find_package(Python3 COMPONENTS Interpreter QUIET)
if(NOT CT_SANITIZE)
	set(wheel_stage ${PROJECT_BINARY_DIR}/packages/wheel)
	string(REPLACE . _ wheel_floor ${CT_GLIBC_FLOOR})
	set(wheel COMMAND ${CMAKE_COMMAND} -E rm -rf ${wheel_stage}
		COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --strip --prefix ${wheel_stage}
		COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/wheel.py ${wheel_stage} ${PROJECT_BINARY_DIR}/packages
			${PROJECT_VERSION} manylinux_${wheel_floor}_${CMAKE_SYSTEM_PROCESSOR}
		COMMAND ${CMAKE_COMMAND} -E rm -rf ${wheel_stage})
	if(NOT Python3_FOUND)
		set(wheel COMMAND ${CMAKE_COMMAND} -E echo "no wheel: there is no Python to write it")
	endif()
	set(stacks "")
	if(TARGET commtrace-stacks)
		set(stacks commtrace-stacks)
	endif()
	add_custom_target(dist
		COMMAND ${CMAKE_CPACK_COMMAND} --config ${PROJECT_BINARY_DIR}/CPackConfig.cmake
		${wheel}
		DEPENDS commtrace commtrace_preload pages ${stacks}
		COMMENT "packages/" USES_TERMINAL VERBATIM)
endif()
