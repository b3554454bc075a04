# cmake -D ROOT=.. -P readme.cmake: the program on the front page is consumer/example.cpp, letter for letter.
file(READ ${ROOT}/README.md readme)
file(READ ${ROOT}/tests/install/consumer/example.cpp example)
string(FIND "${readme}" "```cpp\n${example}```" at)
if(at EQUAL -1)
  message(FATAL_ERROR "README.md does not show tests/install/consumer/example.cpp as it is")
endif()
