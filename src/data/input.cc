#include "data/input.h"

#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "base/ascii.h"
#include "base/file.h"

namespace kin::data {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kSupported =
    ".jsonl, .ndjson, .json, .csv and .tsv (each also with .gz or .zst), and .parquet";

bool is_glob(const std::string& pattern) {
  return pattern.find_first_of("*?[") != std::string::npos;
}

// A file whose very name holds * ? or [ is meant as it is written.
Result<std::vector<std::string>> expand(const std::string& pattern) {
  std::error_code ignored;
  if (!is_glob(pattern) || fs::exists(pattern, ignored)) return std::vector{pattern};
  glob_t found{};
  const int outcome = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (outcome == GLOB_NOMATCH || (outcome == 0 && paths.empty())) {
    return Error{Code::kNotFound, fmt::format("no file matches {}", pattern)};
  }
  if (outcome != 0)
    return Error{Code::kUnavailable, fmt::format("cannot list the files of {}", pattern)};
  std::sort(paths.begin(), paths.end());  // glob() sorts by locale; a run must not depend on it
  return paths;
}

struct SizeAndTime {
  std::uint64_t bytes;
  std::int64_t changed;
};

SizeAndTime size_and_time(const struct stat& status) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return {static_cast<std::uint64_t>(status.st_size),
          status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec};
}

Result<Input> standard_input(const fs::path& spool_folder) {
  const fs::path path = spool_folder / "standard_input.jsonl";
  File from = File::standard_input();
  KIN_TRY(File to, File::create(path));
  std::vector<char> buffer(1 << 20);
  for (;;) {
    KIN_TRY(const std::size_t got, from.read(buffer.data(), buffer.size()));
    if (got == 0) break;
    KIN_RETURN_IF_ERROR(to.write({buffer.data(), got}));
  }
  KIN_RETURN_IF_ERROR(to.close());
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return system_error("read", path, errno);
  const SizeAndTime now = size_and_time(status);
  return Input{path, FileType{}, now.bytes, "standard input", now.changed};
}

Result<Input> regular_file(const std::string& name) {
  // Opening tells more than asking: it also finds out whether reading is allowed.
  KIN_TRY(File file, File::open_to_read(name));
  struct stat status{};
  if (::stat(name.c_str(), &status) != 0) return system_error("read", name, errno);
  if (!S_ISREG(status.st_mode)) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} is not a regular file (use - to read a stream)", name)};
  }
  KIN_TRY(const FileType type, file_type(name));
  const SizeAndTime now = size_and_time(status);
  return Input{name, type, now.bytes, name, now.changed};
}

Status check_all(const std::vector<Input>& inputs) {
  std::map<fs::path, const Input*> seen;
  for (const Input& input : inputs) {
    std::error_code failure;
    const fs::path real = fs::canonical(input.path, failure);
    if (failure) return system_error("read", input.path, failure.value());
    const auto [other, is_new] = seen.emplace(real, &input);
    if (!is_new) {
      return Error{Code::kInvalidArgument, fmt::format("{} is named twice (the second time as {})",
                                                       other->second->shown_as, input.shown_as)};
    }
    const Input& first = inputs.front();
    if (input.type.format != first.type.format) {
      return Error{
          Code::kInvalidArgument,
          fmt::format("the inputs have different formats: {} is {}, {} is {} (convert one first)",
                      first.shown_as, format_name(first.type.format), input.shown_as,
                      format_name(input.type.format))};
    }
  }
  return Done{};
}

}  // namespace

std::string_view format_name(Format format) {
  switch (format) {
    case Format::kJsonl: return "JSONL";
    case Format::kParquet: return "Parquet";
    case Format::kCsv: return "CSV";
    case Format::kTsv: return "TSV";
  }
  KIN_UNREACHABLE();
}

Result<FileType> file_type(const fs::path& path) {
  static const std::map<std::string, Format> kFormats = {
      {".jsonl", Format::kJsonl}, {".ndjson", Format::kJsonl}, {".json", Format::kJsonl},
      {".csv", Format::kCsv},     {".tsv", Format::kTsv},      {".parquet", Format::kParquet}};
  fs::path name = path.filename();
  FileType type;
  const std::string last = ascii_lowered(name.extension().string());
  if (last == ".gz") type.compression = Compression::kGzip;
  if (last == ".zst") type.compression = Compression::kZstd;
  if (type.compression != Compression::kNone) name = name.stem();
  const auto found = kFormats.find(ascii_lowered(name.extension().string()));
  const bool packed_parquet = found != kFormats.end() && found->second == Format::kParquet &&
                              type.compression != Compression::kNone;
  if (found == kFormats.end() || packed_parquet) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{} has an extension that says no format we know: known are {}",
                             path.string(), kSupported)};
  }
  type.format = found->second;
  return type;
}

Result<std::vector<Input>> find_inputs(std::span<const std::string> patterns,
                                       const fs::path& spool_folder) {
  if (patterns.empty()) return Error{Code::kInvalidArgument, "no input was named"};
  std::vector<Input> inputs;
  bool has_standard_input = false;
  for (const std::string& pattern : patterns) {
    if (pattern == "-") {
      if (std::exchange(has_standard_input, true)) {
        return Error{Code::kInvalidArgument, "standard input (-) is named twice"};
      }
      KIN_TRY(Input input, standard_input(spool_folder));
      inputs.push_back(std::move(input));
      continue;
    }
    KIN_TRY(const std::vector<std::string> names, expand(pattern));
    for (const std::string& name : names) {
      KIN_TRY(Input input, regular_file(name));
      inputs.push_back(std::move(input));
    }
  }
  KIN_RETURN_IF_ERROR(check_all(inputs));
  return inputs;
}

Result<FileType> output_type(const fs::path& output, std::span<const Input> inputs) {
  if (output == "-") return FileType{};
  for (const Input& input : inputs) {
    std::error_code ignored;
    if (!fs::equivalent(input.path, output, ignored)) continue;
    return Error{
        Code::kInvalidArgument,
        fmt::format("{} is an input and cannot be the output too (name another)", output.string())};
  }
  return file_type(output);
}

Status check_unchanged(std::span<const Input> inputs) {
  for (const Input& input : inputs) {
    if (!input.changed) continue;
    struct stat status{};
    if (::stat(input.path.c_str(), &status) != 0) {
      return Error{Code::kFailedPrecondition,
                   fmt::format("{} was removed while it was read (run again)", input.shown_as)};
    }
    const SizeAndTime now = size_and_time(status);
    if (now.bytes == input.bytes && now.changed == *input.changed) continue;
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} changed while it was read (run again)", input.shown_as)};
  }
  return Done{};
}

}  // namespace kin::data
