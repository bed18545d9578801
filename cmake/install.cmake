# make install: both programs side by side (tutti looks for tutti-engine beside itself), and in lib/tutti a copy of what
# tutti-engine loads from the cache: the cache belongs to the user who built, the installed program to everybody. Manual pages
# and completions are what the program prints of its command table. Packages take the component "tutti" alone and choose
# libraries for themselves (tools/tarball.sh, tools/deb.sh).
include(GNUInstallDirs)
file(RELATIVE_PATH libraries_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/tutti)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME tutti)

if(TARGET tutti)
  install(TARGETS tutti RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set(share ${PROJECT_BINARY_DIR}/share)
  add_custom_command(OUTPUT ${share}/complete DEPENDS tutti VERBATIM
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${share}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${share}/completions
    COMMAND $<TARGET_FILE:tutti> man --output-dir ${share}/man1
    COMMAND $<TARGET_FILE:tutti> completion bash > ${share}/completions/tutti
    COMMAND $<TARGET_FILE:tutti> completion zsh > ${share}/completions/_tutti
    COMMAND $<TARGET_FILE:tutti> completion fish > ${share}/completions/tutti.fish
    COMMAND ${CMAKE_COMMAND} -E touch ${share}/complete)
  add_custom_target(shared_files DEPENDS ${share}/complete)
  add_dependencies(programs shared_files)
  install(DIRECTORY ${share}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${share}/completions/tutti DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${share}/completions/_tutti DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${share}/completions/tutti.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
if(TARGET tutti-engine)
  set_target_properties(tutti-engine PROPERTIES INSTALL_RPATH "\$ORIGIN/${libraries_from_bin}")
  install(TARGETS tutti-engine RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET tutti-cuda)
    set_target_properties(tutti-cuda PROPERTIES INSTALL_RPATH "\$ORIGIN")
    install(TARGETS tutti-cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tutti COMPONENT libtorch)
  endif()
  install(DIRECTORY ${TUTTI_LIBTORCH}/lib/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/tutti COMPONENT libtorch FILES_MATCHING PATTERN "*.so*")
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY.md ${PROJECT_SOURCE_DIR}/README.md
  ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
