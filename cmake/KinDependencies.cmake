# Every library Kindred uses, as an imported target. scripts/setup installs them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc)
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)
find_package(ZLIB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(CURL REQUIRED)
find_package(pugixml REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(PkgConfig REQUIRED)

# Debian ships these with a pkg-config file or nothing at all, so they are found by hand.
function(kin_find_library target header library)
  find_path(${target}_INCLUDE ${header} HINTS ${ARGN} PATH_SUFFIXES include)
  find_library(${target}_LIBRARY ${library} HINTS ${ARGN} PATH_SUFFIXES lib)
  if(NOT ${target}_INCLUDE OR NOT ${target}_LIBRARY)
    message(FATAL_ERROR "${header} or lib${library} is missing: run scripts/setup")
  endif()
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION "${${target}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${${target}_INCLUDE}")
endfunction()

kin_find_library(kin_xxhash xxhash.h xxhash)
kin_find_library(kin_highway hwy/highway.h hwy)
kin_find_library(kin_simdjson simdjson.h simdjson)
kin_find_library(kin_zstd zstd.h zstd)
kin_find_library(kin_deflate libdeflate.h deflate)
# What Parquet pages may be compressed with, besides zstd and gzip.
kin_find_library(kin_snappy snappy.h snappy)
kin_find_library(kin_lz4 lz4.h lz4)
kin_find_library(kin_brotli brotli/decode.h brotlidec)
find_library(kin_brotlienc_LIBRARY brotlienc REQUIRED)
set_target_properties(kin_brotli PROPERTIES INTERFACE_LINK_LIBRARIES ${kin_brotlienc_LIBRARY})
kin_find_library(kin_roaring roaring/roaring.h roaring)
kin_find_library(kin_stemmer libstemmer.h stemmer)
# Static, for few commands need it: a shared one would take 6 MB of every other command's memory.
kin_find_library(kin_rocksdb rocksdb/db.h librocksdb.a)
foreach(library snappy lz4 bz2)
  find_library(kin_${library}_LIBRARY ${library} REQUIRED)
  target_link_libraries(kin_rocksdb INTERFACE ${kin_${library}_LIBRARY})
endforeach()
target_link_libraries(kin_rocksdb INTERFACE kin_zstd ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
# scripts/setup puts DuckDB under .deps; a system-wide libduckdb serves as well.
kin_find_library(kin_duckdb duckdb.h duckdb ${PROJECT_SOURCE_DIR}/.deps/duckdb)

# A peer of `kindred-bench text` and nothing else: a build without it leaves the comparison out.
add_library(kin_xapian INTERFACE)
find_path(kin_xapian_INCLUDE xapian.h)
find_library(kin_xapian_LIBRARY xapian)
if(KIN_XAPIAN AND kin_xapian_INCLUDE AND kin_xapian_LIBRARY)
  target_include_directories(kin_xapian SYSTEM INTERFACE ${kin_xapian_INCLUDE})
  target_link_libraries(kin_xapian INTERFACE ${kin_xapian_LIBRARY})
  target_compile_definitions(kin_xapian INTERFACE KIN_XAPIAN)
endif()

if(BUILD_TESTING)
  find_package(GTest REQUIRED)
endif()
