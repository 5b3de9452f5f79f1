# What `cmake --install` puts where: the program, the files it looks for, its manual pages and completion, which it
# writes itself.
include(GNUInstallDirs)
install(TARGETS replisim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS replisim_simgrid LIBRARY DESTINATION lib/replisim) # where sim/engine/kernel_loader.cpp looks
set(share ${CMAKE_INSTALL_DATAROOTDIR}/replisim)
install(DIRECTORY scenarios DESTINATION ${share})
install(DIRECTORY calibration/profiles calibration/specs calibration/data DESTINATION ${share}/calibration)
install(FILES calibration/tables.sql calibration/collect.sql DESTINATION ${share}/calibration)
install(CODE "
  set(out \"${CMAKE_BINARY_DIR}/words\")
  file(MAKE_DIRECTORY \"\${out}\")
  execute_process(COMMAND \"$<TARGET_FILE:replisim>\" man --out \"\${out}/man1\" COMMAND_ERROR_IS_FATAL ANY)
  foreach(shell bash zsh fish)
    execute_process(COMMAND \"$<TARGET_FILE:replisim>\" completion \${shell}
      OUTPUT_FILE \"\${out}/replisim.\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(DIRECTORY ${CMAKE_BINARY_DIR}/words/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${CMAKE_BINARY_DIR}/words/replisim.bash RENAME replisim
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
install(FILES ${CMAKE_BINARY_DIR}/words/replisim.zsh RENAME _replisim
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions)
install(FILES ${CMAKE_BINARY_DIR}/words/replisim.fish
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d)
