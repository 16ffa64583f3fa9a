# `cmake --install BUILD --prefix PREFIX`: the CLI, the library where it looks for it, manual pages and shell completion
# (tools/pages). Never tools/sim. The library is preloaded, not linked; the header and the
# module of Python are for jobs that mark their steps. The library goes to lib/ itself: /usr/local/lib is where the
# loader looks on most systems.
install(TARGETS commtrace RUNTIME DESTINATION bin)
if(TARGET commtrace-stacks)
	install(TARGETS commtrace-stacks RUNTIME DESTINATION bin)
endif()
# It needs the shared libmicrohttpd of this system, so it is in no package that runs anywhere: --component metrics installs it.
if(TARGET commtrace-metrics)
	install(TARGETS commtrace-metrics RUNTIME DESTINATION bin COMPONENT metrics EXCLUDE_FROM_ALL)
endif()
# The same with MPI: --component mpi.
foreach(flavour IN LISTS CT_MPI_FLAVOURS)
	if(TARGET commtrace-mpi.${flavour})
		install(TARGETS commtrace-mpi.${flavour} RUNTIME DESTINATION bin COMPONENT mpi EXCLUDE_FROM_ALL)
	endif()
endforeach()
install(TARGETS commtrace_preload LIBRARY DESTINATION lib)
install(FILES include/commtrace.h DESTINATION include)
install(FILES python/commtrace.py DESTINATION lib/python3/dist-packages)
install(FILES README.md CHANGELOG.md DESTINATION share/doc/commtrace)
install(FILES LICENSE DESTINATION share/doc/commtrace RENAME copyright)
# The CLI and the library hold code of these. Their licenses ask to be passed on with it; Debian puts them here.
foreach(package IN ITEMS libc6-dev libdeflate-dev libelf-dev libiberty-dev libjansson-dev liblzma-dev libncurses-dev libprotobuf-c-dev libunwind-dev libzstd-dev zlib1g-dev)
	install(FILES /usr/share/doc/${package}/copyright DESTINATION share/doc/commtrace/licenses RENAME ${package} OPTIONAL)
endforeach()
