# `cmake --install BUILD --prefix PREFIX`: the CLI, the library where it looks for it, manual pages and shell completion. Never
# tools/sim. There are no headers: the library is preloaded, not linked. It goes to lib/ itself: /usr/local/lib is where the
# loader looks on most systems.
install(TARGETS commtrace RUNTIME DESTINATION bin)
install(TARGETS commtrace_preload LIBRARY DESTINATION lib)
foreach(pages IN ITEMS man bash-completion zsh)
	install(DIRECTORY ${PROJECT_BINARY_DIR}/share/${pages} DESTINATION share)
endforeach()
