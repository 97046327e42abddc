#include "base/memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/ascii.h"

namespace kin {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};

constexpr std::array<Unit, 14> kUnits{{
    {"", 1},
    {"b", 1},
    {"k", 0x1p10},
    {"kib", 0x1p10},
    {"kb", 1e3},
    {"m", 0x1p20},
    {"mib", 0x1p20},
    {"mb", 1e6},
    {"g", 0x1p30},
    {"gib", 0x1p30},
    {"gb", 1e9},
    {"t", 0x1p40},
    {"tib", 0x1p40},
    {"tb", 1e12},
}};

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit(end, text.data() + text.size());
  while (!unit.empty() && unit.front() == ' ') unit.erase(0, 1);
  unit = ascii_lowered(unit);
  constexpr double kTooMuch = 0x1p63;
  for (const Unit& known : kUnits) {
    if (failure != std::errc() || unit != known.name) continue;
    const double bytes = number * known.bytes;
    if (bytes >= 0 && bytes < kTooMuch) return static_cast<std::uint64_t>(std::llround(bytes));
  }
  return Error{Code::kInvalidArgument,
               fmt::format("\"{}\" is not an amount of memory (write 512MiB, 2GiB, 1.5GB)", text)};
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kNames{"B", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kNames.size(); ++unit) amount /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", amount, kNames[unit]);
}

std::uint64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long total = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// Not getrusage(): it also counts what the process that started this one held at that moment.
std::uint64_t peak_resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  std::array<char, 256> line{};
  unsigned long kibibytes = 0;
  while (std::fgets(line.data(), line.size(), file) != nullptr) {
    if (std::sscanf(line.data(), "VmHWM: %lu kB", &kibibytes) == 1) break;
  }
  std::fclose(file);
  return std::uint64_t{kibibytes} * 1024;
}

}  // namespace kin
