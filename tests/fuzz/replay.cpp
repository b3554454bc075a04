// The main function of a fuzz target without libFuzzer: calls it with each file of the folders given, and with beginnings of each file.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/target.hpp"

int main(int argc, char** argv) {
  constexpr std::size_t most_beginnings = 256;
  std::size_t inputs = 0;
  const auto replay = [&inputs](const std::string& text, std::size_t size) {
    const std::vector<std::uint8_t> bytes(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    ++inputs;
  };
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      std::fprintf(stderr, "%s\n", entry.path().c_str());  // the last one, where the process ends in it
      replay(text, text.size());
      const std::size_t stride = std::max<std::size_t>(1, text.size() / most_beginnings);
      for (std::size_t size = 0; size < text.size(); size += stride) replay(text, size);
    }
  }
  std::printf("%zu inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}
