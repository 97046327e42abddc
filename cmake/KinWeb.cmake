# kin_web_page(<room>)
#
# Builds the page in web/ and puts its files into the room's library, as the embedded_assets() of
# src/server/page/assets.h. KIN_WEB_DIST names a folder with a page that was built elsewhere.
set(KIN_WEB_DIST "" CACHE PATH "A built page to embed instead of building web/")

function(kin_web_page room)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(source ${CMAKE_BINARY_DIR}/generated/${room}/embedded_assets.cc)
  if(KIN_WEB_DIST)
    if(NOT EXISTS ${KIN_WEB_DIST}/index.html)
      message(FATAL_ERROR "KIN_WEB_DIST: ${KIN_WEB_DIST} has no index.html")
    endif()
    set(dist ${KIN_WEB_DIST})
    file(GLOB_RECURSE inputs CONFIGURE_DEPENDS ${dist}/*)
  else()
    kin_find_page_tools()
    set(dist ${CMAKE_BINARY_DIR}/web)
    set(web ${PROJECT_SOURCE_DIR}/web)
    file(GLOB_RECURSE inputs CONFIGURE_DEPENDS ${web}/src/* ${web}/public/*)
    file(GLOB settings CONFIGURE_DEPENDS ${web}/*.html ${web}/package*.json ${web}/*.config.*)
    list(APPEND inputs ${settings})
    set(build COMMAND ${CMAKE_COMMAND} -E chdir ${web}
      ${KIN_NODE} ${web}/node_modules/vite/bin/vite.js build --outDir ${dist} --emptyOutDir
      --logLevel warn)
  endif()
  set(embed ${PROJECT_SOURCE_DIR}/tools/embed_assets.py)
  add_custom_command(OUTPUT ${source}
    ${build}
    COMMAND ${Python3_EXECUTABLE} ${embed} ${dist} ${source}
    DEPENDS ${inputs} ${embed}
    COMMENT "The page"
    VERBATIM)
  target_sources(kin_${room} PRIVATE ${source})
endfunction()

function(kin_find_page_tools)
  find_program(KIN_NODE NAMES node nodejs)
  if(NOT KIN_NODE)
    message(FATAL_ERROR "node is missing, which builds the page: run scripts/setup")
  endif()
  set(vite ${PROJECT_SOURCE_DIR}/web/node_modules/vite/bin/vite.js)
  if(NOT EXISTS ${vite})
    message(FATAL_ERROR "${vite} is missing, which builds the page: run scripts/setup")
  endif()
endfunction()
