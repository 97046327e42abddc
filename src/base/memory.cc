#include "base/memory.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string>

#include "base/ascii.h"
#include "base/workers.h"

namespace kin {
namespace {

// The bytes of "", "b", "k", "kb", "kib" and so on; nothing for other words.
std::optional<double> bytes_of(std::string_view unit) {
  if (unit.empty() || unit == "b") return 1;
  // npos + 1 is 0, so an unknown letter has the power 0.
  const std::size_t power = std::string_view("kmgt").find(unit[0]) + 1;
  const std::string_view rest = unit.substr(1);
  if (power == 0 || (rest != "" && rest != "b" && rest != "ib")) return std::nullopt;
  return std::pow(rest == "b" ? 1000.0 : 1024.0, power);
}

// A figure of /proc/self/status, where "kB" means 1024 bytes. 0 if it is not there.
std::uint64_t status_bytes(std::string_view name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == name && file >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view rest(end, text.data() + text.size());
  skip_spaces(rest, " ");
  const auto unit = bytes_of(ascii_lowered(rest));
  const double bytes = number * unit.value_or(0);
  // From here on llround() would overflow.
  constexpr double kTooMuch = 0x1p63;
  if (failure == std::errc() && unit && bytes >= 0 && bytes < kTooMuch)
    return static_cast<std::uint64_t>(std::llround(bytes));
  return Error{Code::kInvalidArgument,
               fmt::format("\"{}\" is not an amount of memory (write 512MiB, 2GiB, 1.5GB)", text)};
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kNames{"B", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  // Amounts beyond the last unit are written as thousands of it.
  for (; amount >= 1024 && unit + 1 < kNames.size(); ++unit) amount /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", amount, kNames[unit]);
}

std::uint64_t resident_bytes() {
  return status_bytes("VmRSS:");
}

// Not getrusage(): its peak also counts memory of the parent process at the time of the fork.
std::uint64_t peak_resident_bytes() {
  return status_bytes("VmHWM:");
}

std::uint64_t allocated_bytes() {
  const struct mallinfo2 all = ::mallinfo2();
  return all.uordblks + all.hblkhd;
}

void return_freed_memory() {
  // By default glibc raises this threshold to the size of the largest freed piece, up to 32 MB.
  constexpr int kLarge = 256 << 10;
  constexpr int kKeptAtTheTop = 2 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kLarge);
  ::mallopt(M_TRIM_THRESHOLD, kKeptAtTheTop);
  ::mallopt(M_ARENA_MAX, std::max(available_cores(), 2));
}

}  // namespace kin
