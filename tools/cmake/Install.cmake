# `cmake --install BUILD --prefix PREFIX`: the CLI, the library where it looks for it, and the manual page. Never
# tools/sim. The library goes to lib/ itself: /usr/local/lib is where the loader looks on most systems.
install(TARGETS commtrace RUNTIME DESTINATION bin)
install(TARGETS commtrace_preload LIBRARY DESTINATION lib)
install(FILES ${PROJECT_SOURCE_DIR}/docs/man/commtrace.1 DESTINATION share/man/man1)
