# Packages of others: torus_package(NAME APT_PACKAGE [arguments of find_package]) finds one. One that is missing is fetched, where
# TORUS_FETCH is on and an archive of it is pinned below; else it is named in one line. The checksums are those of the archives that Debian
# has as these packages' sources; that of fmt is in the sources of Debian's mpd.
option(TORUS_FETCH "Fetch packages that are missing, by their checksums" OFF)
set(TORUS_FETCH_FROM "" CACHE PATH "A folder that has the archives to fetch, instead of the network")
mark_as_advanced(TORUS_FETCH_FROM)

set(torus_archive_fmt https://github.com/fmtlib/fmt/archive/9.1.0.tar.gz
  5dea48d1fcddc3ec571ce2058e13910a0d4a6bab4cc09a809d8b1dd1c88ae6f2)
set(torus_archive_nlohmann_json https://github.com/nlohmann/json/archive/v3.11.2.tar.gz
  d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273)
set(torus_archive_xxHash https://github.com/Cyan4973/xxHash/archive/v0.8.1.tar.gz
  3bb6b7d6f30c591dd65aaaff1c8b7a5b94d81687998ca9400082c739a690436c)
set(torus_archive_Catch2 https://github.com/catchorg/Catch2/archive/v3.7.1.tar.gz
  c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c)
set(torus_archive_benchmark https://github.com/google/benchmark/archive/v1.7.1.tar.gz
  6430e4092653380d9dc4ccb45a1e2dc9259d581f4866dc0759713126056bc1d7)
# Of these, what is headers alone: the folder that they are in.
set(torus_headers_nlohmann_json include)
set(torus_headers_xxHash .)

macro(torus_package name apt)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    torus_fetch(${name} ${apt})
  endif()
endmacro()

# Fetches a package, or ends with a line that names it. Sets NAME_SOURCE_DIR.
function(torus_fetch name apt)
  if(NOT DEFINED torus_archive_${name})
    message(FATAL_ERROR "${name} is missing: install ${apt}, or run tools/setup; TORUS_FETCH has no copy of it")
  endif()
  if(NOT TORUS_FETCH)
    message(FATAL_ERROR "${name} is missing: install ${apt}, or run tools/setup, or configure with -DTORUS_FETCH=ON")
  endif()
  list(GET torus_archive_${name} 0 url)
  list(GET torus_archive_${name} 1 hash)
  if(TORUS_FETCH_FROM)
    cmake_path(GET url FILENAME file)
    set(url ${TORUS_FETCH_FROM}/${name}-${file})
  endif()
  message(STATUS "fetching ${name}: ${url}")
  set(subfolder "")
  if(DEFINED torus_headers_${name})
    set(subfolder SOURCE_SUBDIR none)  # its own build is not wanted
  endif()
  include(FetchContent)
  FetchContent_Declare(${name} SYSTEM URL ${url} URL_HASH SHA256=${hash} DOWNLOAD_EXTRACT_TIMESTAMP ON ${subfolder})
  set(BUILD_SHARED_LIBS OFF)
  set(CMAKE_VERIFY_INTERFACE_HEADER_SETS OFF)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(FMT_INSTALL ${TORUS_INSTALL})  # the libraries that are installed link it
  set(BENCHMARK_ENABLE_TESTING OFF)
  set(BENCHMARK_ENABLE_INSTALL OFF)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # these hold, and not the packages' defaults
  FetchContent_MakeAvailable(${name})
  FetchContent_GetProperties(${name} SOURCE_DIR source)
  set(${name}_SOURCE_DIR ${source} PARENT_SCOPE)
  if(DEFINED torus_headers_${name})
    add_library(${name}::${name} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${name}::${name} SYSTEM INTERFACE ${source}/${torus_headers_${name}})
  endif()
endfunction()
