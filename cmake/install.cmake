# make install: both programs side by side (tutti looks for tutti-engine beside itself), and in lib/tutti a copy of what
# tutti-engine loads from the cache: the cache belongs to the user who built, the installed program to everybody.
include(GNUInstallDirs)
file(RELATIVE_PATH libraries_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/tutti)

if(TARGET tutti)
  install(TARGETS tutti RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET tutti-engine)
  set_target_properties(tutti-engine PROPERTIES INSTALL_RPATH "\$ORIGIN/${libraries_from_bin}")
  install(TARGETS tutti-engine RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET tutti-cuda)
    set_target_properties(tutti-cuda PROPERTIES INSTALL_RPATH "\$ORIGIN")
    install(TARGETS tutti-cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tutti)
  endif()
  install(DIRECTORY ${TUTTI_LIBTORCH}/lib/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/tutti FILES_MATCHING PATTERN "*.so*")
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
