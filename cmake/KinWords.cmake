# kin_background_words(<room>)
#
# Puts the list of frequent words that scripts/setup made into the room's library, as the
# background_words() of src/stories/grouping/background.h.
function(kin_background_words room)
  set(words ${PROJECT_SOURCE_DIR}/.deps/words/english.txt)
  if(NOT EXISTS ${words})
    message(FATAL_ERROR "${words} is missing: run scripts/setup")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${words})
  file(READ ${words} KIN_WORDS)
  set(source ${CMAKE_BINARY_DIR}/generated/${room}/background_words.cc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/background_words.cc.in ${source} @ONLY)
  target_sources(kin_${room} PRIVATE ${source})
endfunction()
