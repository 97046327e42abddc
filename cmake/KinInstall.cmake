# kin_install(<program>)
#
# `cmake --install build/release --prefix DIR` puts the program into DIR/bin, its models into
# DIR/share/kindred/models and, where scripts/setup fetched it, DuckDB into DIR/lib/kindred. The
# program finds both relative to itself, so DIR may be moved.
function(kin_install program)
  set(models ${PROJECT_SOURCE_DIR}/.deps/models)
  # In a build tree the program finds its models beside itself.
  file(CREATE_LINK ${models} ${CMAKE_BINARY_DIR}/models SYMBOLIC)
  install(TARGETS ${program} RUNTIME DESTINATION bin)
  install(DIRECTORY ${models}/ DESTINATION share/kindred/models)
  string(FIND ${kin_duckdb_LIBRARY} ${PROJECT_SOURCE_DIR}/ ours)
  if(ours EQUAL 0)
    install(FILES ${kin_duckdb_LIBRARY} DESTINATION lib/kindred)
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/kindred")
  endif()
endfunction()
