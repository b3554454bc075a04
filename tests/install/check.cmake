# SPDX-License-Identifier: MIT
# cmake -D BUILD=.. -D WORK=.. -D COMPILER=.. -D BUILD_TYPE=.. -D FLAGS=.. -P check.cmake: installs the build, builds the consumer with what
# was installed and nothing else, and runs it.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
function(step)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component torus)
step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build -G Ninja -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_CXX_COMPILER=${COMPILER}
  -D CMAKE_BUILD_TYPE=${BUILD_TYPE} "-DCMAKE_CXX_FLAGS=${FLAGS}")
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/consumer)
message(STATUS "${output}")
foreach(row "steps +8 \\(8 with traffic\\)" "verdict +verified: every byte at every node" "trace +legal and complete")
  if(NOT output MATCHES "${row}")
    message(FATAL_ERROR "the consumer's report lacks: ${row}")
  endif()
endforeach()
step(${WORK}/build/example)
if(NOT output STREQUAL "15 steps, every byte verified\n")
  message(FATAL_ERROR "the example says: ${output}")
endif()
