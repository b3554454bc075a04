# cmake -D WORK=.. -D COMPILER=.. -P packages.cmake: what CMake says of packages that are missing, and that it takes no archive but the pinned.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH tests)
cmake_path(GET tests PARENT_PATH root)
file(REMOVE_RECURSE ${WORK})

# Configures, which must fail with these words.
function(must_fail words)
  file(REMOVE_RECURSE ${WORK}/build)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${root} -B ${WORK}/build -G Ninja -D CMAKE_CXX_COMPILER=${COMPILER} ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  string(REGEX REPLACE "[ \n]+" " " error "${error}")  # CMake breaks lines
  string(FIND "${error}" "${words}" at)
  if(status EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "${ARGN}\nended with ${status}, without: ${words}\n${error}")
  endif()
endfunction()

must_fail("fmt is missing: install libfmt-dev, or run tools/setup, or configure with -DTORUS_FETCH=ON" -D CMAKE_DISABLE_FIND_PACKAGE_fmt=ON)
must_fail("CLI11 is missing: install libcli11-dev, or run tools/setup; TORUS_FETCH has no copy of it" -D CMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
  -D TORUS_FETCH=ON)
file(WRITE ${WORK}/archives/fmt-9.1.0.tar.gz "no archive\n")
must_fail("does not match expected value" -D CMAKE_DISABLE_FIND_PACKAGE_fmt=ON -D TORUS_FETCH=ON -D TORUS_FETCH_FROM=${WORK}/archives)
