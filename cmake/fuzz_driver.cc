// Runs a libFuzzer target without libFuzzer: every file of the corpus folder given as the first
// argument, then a fixed number of inputs made by mutating them, from a fixed seed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string mutate(std::string input, std::mt19937_64& random) {
  const int edits = 1 + static_cast<int>(random() % 8);
  for (int i = 0; i < edits; ++i) {
    const std::size_t at = input.empty() ? 0 : random() % (input.size() + 1);
    switch (random() % 4) {
      case 0: input.insert(at, 1, static_cast<char>(random())); break;
      case 1: input.erase(at, 1 + random() % 4); break;
      case 2: if (at < input.size()) input[at] = static_cast<char>(random()); break;
      case 3: input.insert(at, input.substr(input.size() / 2, random() % 32)); break;
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> seeds{""};
  if (argc > 1 && std::filesystem::is_directory(argv[1])) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
      std::ifstream file(entry.path(), std::ios::binary);
      seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  for (const std::string& seed : seeds) run(seed);
  std::mt19937_64 random(20'240'229);
  constexpr int kInputs = 3'000;
  for (int i = 0; i < kInputs; ++i) run(mutate(seeds[random() % seeds.size()], random));
  std::printf("%zu seeds and %d mutations passed\n", seeds.size(), kInputs);
}
