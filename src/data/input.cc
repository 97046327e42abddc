#include "data/input.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "base/ascii.h"
#include "base/file.h"
#include "data/byte_source.h"
#include "data/files/glob.h"
#include "data/files/remote_glob.h"

namespace kin::data {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kSupported =
    ".jsonl, .ndjson, .json, .csv and .tsv (each also with .gz, .zst, .bz2 or .xz), and .parquet";

// A file and its path below the named folder.
struct Found {
  std::string name;
  fs::path relative;
};

fs::path below(const std::string& name, const fs::path& folder) {
  const fs::path relative =
      folder.empty() ? fs::path(name) : fs::path(name).lexically_relative(folder);
  // A pattern such as ../a/*.jsonl has no folder that its files lie below.
  const bool inside = !relative.empty() && relative.is_relative() && *relative.begin() != "..";
  return inside ? relative.lexically_normal() : fs::path(name).filename();
}

// A file whose name contains * ? or [ is taken literally if it exists.
Result<std::vector<Found>> expand(const std::string& pattern) {
  std::error_code ignored;
  if (!has_wildcard(pattern) || fs::exists(pattern, ignored))
    return std::vector<Found>{{pattern, fs::path(pattern).filename()}};
  KIN_TRY(const std::vector<std::string> names, expand_glob(pattern));
  if (names.empty()) return Error{Code::kNotFound, fmt::format("no file matches {}", pattern)};
  const fs::path prefix = fixed_prefix(pattern);
  std::vector<Found> found;
  for (const std::string& name : names) found.push_back({name, below(name, prefix)});
  return found;
}

// Says how many files of a folder are `others`. An error if there are none but them.
Status note_others(const std::string& folder, std::size_t found, std::size_t others,
                   std::vector<std::string>* notes) {
  if (found == 0) {
    return Error{Code::kNotFound,
                 fmt::format("there is no dataset file below {} (known: {})", folder, kSupported)};
  }
  if (others > 0 && notes != nullptr) {
    notes->push_back(fmt::format("{} other {} below {} {} left out (known: {})", others,
                                 others == 1 ? "file" : "files", folder,
                                 others == 1 ? "was" : "were", kSupported));
  }
  return Done{};
}

// The dataset files below `folder`.
Result<std::vector<Found>> expand_folder(const std::string& folder,
                                         std::vector<std::string>* notes) {
  KIN_TRY(const std::vector<std::string> names, files_below(folder));
  std::vector<Found> found;
  for (const std::string& name : names) {
    if (file_type(name).ok()) found.push_back({name, below(name, fs::path(folder) / "")});
  }
  KIN_RETURN_IF_ERROR(note_others(folder, found.size(), names.size() - found.size(), notes));
  return found;
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
  return Input{.path = path,
               .bytes = now.bytes,
               .shown_as = "standard input",
               .changed = now.changed,
               .relative = "standard_input.jsonl"};
}

// Whether the file holds one array and not one object a line.
Result<bool> holds_array(const Input& input) {
  if (!has_json_extension(input.path)) return false;
  constexpr std::string_view kBlank = " \t\r\n\xef\xbb\xbf";
  KIN_TRY(const auto source, ByteSource::open(input));
  char bytes[4096];
  for (;;) {
    KIN_TRY(const std::size_t got, source->read(bytes, sizeof bytes));
    if (got == 0) return false;
    const std::size_t first = std::string_view(bytes, got).find_first_not_of(kBlank);
    if (first != std::string_view::npos) return bytes[first] == '[';
  }
}

Result<Input> regular_file(const Found& found) {
  const std::string& name = found.name;
  // Opened, because that also checks the permission to read.
  KIN_TRY(File file, File::open_to_read(name));
  struct stat status{};
  if (::stat(name.c_str(), &status) != 0) return system_error("read", name, errno);
  if (!S_ISREG(status.st_mode)) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} is not a regular file (use - to read a stream)", name)};
  }
  KIN_TRY(const FileType type, file_type(name));
  const SizeAndTime now = size_and_time(status);
  Input input{.path = name,
              .type = type,
              .bytes = now.bytes,
              .shown_as = name,
              .changed = now.changed,
              .relative = found.relative};
  KIN_TRY(input.array, holds_array(input));
  return input;
}

// The remote files that `pattern` names.
Result<std::vector<Input>> remote_inputs(const std::string& pattern, RemoteFiles* remote,
                                         std::vector<std::string>* notes) {
  if (remote == nullptr) {
    return Error{
        Code::kInvalidArgument,
        fmt::format("{}: files of other machines cannot be read here (copy it first)", pattern)};
  }
  KIN_TRY(RemoteMatches found, expand_remote(*remote, pattern));
  const std::size_t all = found.files.size();
  if (found.folder) {
    std::erase_if(found.files, [](const RemoteMatch& one) { return !file_type(one.file.name); });
    KIN_RETURN_IF_ERROR(note_others(pattern, found.files.size(), all - found.files.size(), notes));
  }
  std::vector<Input> inputs;
  for (RemoteMatch& one : found.files) {
    KIN_TRY(const FileType type, file_type(one.file.name));
    Input input{.path = one.file.name,
                .type = type,
                .bytes = one.file.bytes,
                .shown_as = one.file.name,
                .relative = fs::path(one.relative).lexically_normal(),
                .remote = remote,
                .version = std::move(one.file.version)};
    if (found.folder) input.named_folder = pattern;
    KIN_TRY(input.array, holds_array(input));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Status check_all(const std::vector<Input>& inputs) {
  std::map<fs::path, const Input*> seen;
  for (const Input& input : inputs) {
    std::error_code failure;
    const fs::path real = input.remote != nullptr ? input.path : fs::canonical(input.path, failure);
    if (failure) return system_error("read", input.path, failure.value());
    const auto [other, is_new] = seen.emplace(real, &input);
    if (!is_new) {
      return Error{Code::kInvalidArgument, fmt::format("{} is named twice (the second time as {})",
                                                       other->second->shown_as, input.shown_as)};
    }
  }
  return Done{};
}

// Files that were named one by one, as a shell expands a glob, keep their place below the folder
// that all of them share, so that files of the same name in different folders stay apart.
void settle_named(std::vector<Input>& inputs, const std::vector<std::size_t>& named) {
  std::error_code failure;
  std::vector<fs::path> paths;
  for (const std::size_t i : named) {
    const bool remote = inputs[i].remote != nullptr;
    const fs::path whole =
        remote ? fs::path("/" + inputs[i].path.string()) : fs::absolute(inputs[i].path, failure);
    paths.push_back(whole.lexically_normal());
  }
  if (failure || paths.empty()) return;
  fs::path common = paths.front().parent_path();
  for (const fs::path& path : paths) {
    while (common.has_relative_path() && *path.lexically_relative(common).begin() == "..")
      common = common.parent_path();
  }
  for (std::size_t i = 0; i < named.size(); ++i)
    inputs[named[i]].relative = paths[i].lexically_relative(common);
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

Compression compression_of(const fs::path& path) {
  const std::string last = ascii_lowered(path.extension().string());
  if (last == ".gz") return Compression::kGzip;
  if (last == ".zst") return Compression::kZstd;
  if (last == ".bz2") return Compression::kBzip2;
  if (last == ".xz") return Compression::kXz;
  return Compression::kNone;
}

bool has_json_extension(const fs::path& path) {
  const fs::path name = compression_of(path) == Compression::kNone ? path : path.stem();
  return ascii_lowered(name.extension().string()) == ".json";
}

Result<FileType> file_type(const fs::path& path) {
  static const std::map<std::string, Format> kFormats = {
      {".jsonl", Format::kJsonl}, {".ndjson", Format::kJsonl}, {".json", Format::kJsonl},
      {".csv", Format::kCsv},     {".tsv", Format::kTsv},      {".parquet", Format::kParquet}};
  fs::path name = path.filename();
  FileType type;
  type.compression = compression_of(name);
  if (type.compression != Compression::kNone) name = name.stem();
  const auto found = kFormats.find(ascii_lowered(name.extension().string()));
  const bool packed_parquet = found != kFormats.end() && found->second == Format::kParquet &&
                              type.compression != Compression::kNone;
  if (found == kFormats.end() || packed_parquet) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{} has an unknown extension (known: {})", path.string(), kSupported)};
  }
  type.format = found->second;
  return type;
}

Result<std::vector<Input>> find_inputs(std::span<const std::string> patterns,
                                       const fs::path& spool_folder,
                                       std::vector<std::string>* notes, RemoteFiles* remote) {
  if (patterns.empty()) return Error{Code::kInvalidArgument, "no input was named"};
  std::vector<Input> inputs;
  std::vector<std::size_t> named;
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
    if (is_remote(pattern)) {
      KIN_TRY(std::vector<Input> files, remote_inputs(pattern, remote, notes));
      if (files.size() == 1 && files.front().path == pattern) named.push_back(inputs.size());
      std::move(files.begin(), files.end(), std::back_inserter(inputs));
      continue;
    }
    std::error_code ignored;  // a path that cannot be examined is not a folder; opening it says why
    const bool folder = fs::is_directory(pattern, ignored);
    KIN_TRY(const std::vector<Found> files,
            folder ? expand_folder(pattern, notes) : expand(pattern));
    for (const Found& file : files) {
      KIN_TRY(Input input, regular_file(file));
      if (folder) input.named_folder = pattern;
      if (!folder && file.name == pattern) named.push_back(inputs.size());
      inputs.push_back(std::move(input));
    }
  }
  KIN_RETURN_IF_ERROR(check_all(inputs));
  settle_named(inputs, named);
  return inputs;
}

Result<FileType> output_type(const fs::path& output, std::span<const Input> inputs) {
  if (output == "-") return FileType{};
  for (const Input& input : inputs) {
    if (!same_file(input, output)) continue;
    return Error{
        Code::kInvalidArgument,
        fmt::format("{} is an input and cannot be the output too (name another)", output.string())};
  }
  return file_type(output);
}

Result<File> open_input(const Input& input) {
  if (input.remote == nullptr) return File::open_to_read(input.path);
  return input.remote->open({input.path.string(), input.bytes, input.version});
}

bool same_file(const Input& input, const fs::path& other) {
  if (input.remote != nullptr || is_remote(other)) return input.path == other;
  std::error_code ignored;  // what cannot be looked at is no input
  return fs::equivalent(input.path, other, ignored);
}

Status check_unchanged(std::span<const Input> inputs) {
  for (const Input& input : inputs) {
    if (input.remote != nullptr) {
      KIN_TRY(const auto now, input.remote->look(input.path.string()));
      if (now && now->version == input.version) continue;
      return Error{Code::kFailedPrecondition,
                   fmt::format("{} {} while it was read (run again)", input.shown_as,
                               now ? "changed" : "was removed")};
    }
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
