// The driver of every fuzz target: changes seeds at random and feeds them to LLVMFuzzerTestOneInput until the time is
// up. Usage: fuzz_<name> [SEED FILE or FOLDER]... TUTTI_FUZZ_SECONDS (default 1) is the time, TUTTI_FUZZ_SEED
// (default 1) starts the random numbers: the same seed tries the same inputs. The input that crashes, or takes longer
// than kSecondsPerInput, is left in the file fuzz-input beside the process. The targets keep libFuzzer's entry point,
// so with clang they can be linked to it instead.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());

namespace {

using Input = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

constexpr std::size_t kLargestSeed = 1 << 20;
constexpr unsigned kSecondsPerInput = 60;

const Input* tried = nullptr;  // what the target is looking at, for the handlers below

void keep_input() {
  if (!tried) return;
  const int fd = ::open("fuzz-input", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd >= 0 && ::write(fd, tried->data(), tried->size()) >= 0) ::close(fd);
}

void on_signal(int signal) {
  keep_input();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void try_input(const Input& input) {
  tried = &input;
  ::alarm(kSecondsPerInput);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  ::alarm(0);
  tried = nullptr;
}

std::vector<Input> read_seeds(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    files.emplace_back(path);
    if (!std::filesystem::is_directory(path)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // the same order on every file system
  std::vector<Input> seeds{Input{}};
  for (const auto& file : files) {
    if (!std::filesystem::is_regular_file(file) || std::filesystem::file_size(file) > kLargestSeed) continue;
    if (const auto text = tutti::read_file(file)) seeds.emplace_back(text->begin(), text->end());
  }
  return seeds;
}

std::size_t below(Random& random, std::size_t limit) {
  return limit == 0 ? 0 : random() % limit;
}

/// Lengths and counts are where readers break: a number of 1, 2, 4 or 8 bytes at its limits, or near the input's size.
void put_number(Input& input, Random& random) {
  constexpr std::array<std::uint64_t, 8> kEdgeValues{0,    1, 0x7f, 0x7fff, 0x7fffffff, 0x80000000, 0x7fffffffffffffff,
                                                     ~0ULL};
  const std::size_t width = std::size_t{1} << below(random, 4);
  if (input.size() < width) return;
  const std::uint64_t value = random() % 4 == 0 ? input.size() + below(random, 3) - 1 : kEdgeValues[below(random, 8)];
  const std::size_t at = below(random, input.size() - width + 1);
  for (std::size_t i = 0; i < width; ++i) input[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

/// Replaces a piece of the input by a piece of another one, which grows, shrinks, repeats and mixes.
void splice(Input& input, const Input& other, Random& random) {
  const auto from = static_cast<std::ptrdiff_t>(below(random, other.size() + 1));
  const auto length = static_cast<std::ptrdiff_t>(below(random, other.size() - static_cast<std::size_t>(from) + 1));
  const auto at = static_cast<std::ptrdiff_t>(below(random, input.size() + 1));
  const auto cut = static_cast<std::ptrdiff_t>(below(random, input.size() - static_cast<std::size_t>(at) + 1) % 64);
  const Input piece(other.begin() + from, other.begin() + from + length % 4096);
  input.erase(input.begin() + at, input.begin() + at + cut);
  input.insert(input.begin() + at, piece.begin(), piece.end());
}

Input changed(const std::vector<Input>& seeds, Random& random) {
  Input input = seeds[below(random, seeds.size())];
  for (std::size_t changes = 1 + below(random, 6); changes > 0; --changes) {
    const std::size_t at = below(random, input.size());
    switch (random() % 6) {
      case 0:
        if (!input.empty()) input[at] ^= static_cast<std::uint8_t>(1U << below(random, 8));
        break;
      case 1:
        if (!input.empty()) input[at] = static_cast<std::uint8_t>(random());
        break;
      case 2: input.resize(at); break;
      case 3: put_number(input, random); break;
      case 4: splice(input, seeds[below(random, seeds.size())], random); break;
      default: splice(input, Input(input), random); break;
    }
  }
  return input;
}

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(keep_input);
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) ::signal(signal, on_signal);

  const auto seeds = read_seeds({argv + 1, argv + argc});
  for (const auto& seed : seeds) try_input(seed);
  Random random(setting("TUTTI_FUZZ_SEED", 1));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(setting("TUTTI_FUZZ_SECONDS", 1));
  std::uint64_t inputs = seeds.size();
  for (; std::chrono::steady_clock::now() < end; ++inputs) try_input(changed(seeds, random));
  std::printf("%llu inputs from %zu seeds\n", static_cast<unsigned long long>(inputs), seeds.size());
  return 0;
}
