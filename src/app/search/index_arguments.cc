#include "app/search/index_arguments.h"

#include <fmt/format.h>

#include "app/command.h"
#include "app/print.h"
#include "app/progress_line.h"
#include "app/search/index_report.h"
#include "app/words.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/memory.h"

namespace kin::app {

using search::Document;

std::string progress_text(const Adding& adding, double seconds) {
  if (adding.waiting)
    return fmt::format("{} documents added; learning and placing vectors  {}",
                       with_commas(adding.added), short_duration(seconds));
  std::string line = fmt::format(
      "{} documents  {}/s", short_count(adding.added),
      short_count(static_cast<std::uint64_t>(static_cast<double>(adding.added) / seconds)));
  line += format_share(static_cast<double>(adding.files.bytes_done.load()),
                       static_cast<double>(adding.files.bytes_total.load()), seconds);
  return line + "  " + format_bytes(resident_bytes());
}

Result<int> print_created(const IndexArguments& arguments) {
  const std::string& name = arguments.place.name;
  const std::string at = arguments.at.at.empty() ? "" : " --at " + arguments.at.at;
  return print_result(
      arguments.json
          ? JsonWriter().begin_object().field("created", name).end().take() + "\n"
          : fmt::format("created index {0}; add documents with: kindred index add {0} FILE{1}\n",
                        name, at));
}

Result<int> print_dropped(const IndexArguments& arguments) {
  const std::string& name = arguments.place.name;
  return print_result(arguments.json
                          ? JsonWriter().begin_object().field("dropped", name).end().take() + "\n"
                          : fmt::format("dropped index {}\n", name));
}

Result<int> print_deleted(const IndexArguments& arguments, std::uint64_t removed) {
  const std::uint64_t absent = arguments.ids.size() - removed;
  return print_result(arguments.json
                          ? fmt::format("{{\"deleted\": {}, \"not_there\": {}}}\n", removed, absent)
                          : fmt::format("{} deleted, {} not found\n", removed, absent));
}

Result<int> print_checked(const IndexArguments& arguments, const index::CheckReport& report) {
  KIN_RETURN_IF_ERROR(print(arguments.json ? to_json(arguments.place.name, report) + "\n"
                                           : to_words(arguments.place.name, report)));
  return report.faults.empty() ? kDone : kFailed;
}

Result<int> export_documents(const IndexArguments& arguments,
                             const std::function<Status(const Visit&)>& each) {
  const bool to_stdout = arguments.output == "-";
  std::optional<AtomicFile> file;
  if (!to_stdout) {
    // An export that fails leaves no file.
    KIN_TRY(AtomicFile made, AtomicFile::create(arguments.output));
    file.emplace(std::move(made));
  }
  std::string lines;
  std::uint64_t count = 0;
  const auto flush = [&]() -> Status {
    const Status written = to_stdout ? print(lines) : file->write(lines);
    lines.clear();
    return written;
  };
  constexpr std::size_t kFlushBytes = std::size_t{1} << 20;
  KIN_RETURN_IF_ERROR(each([&](const Document& document) -> Status {
    JsonWriter json;
    search::write_document(json, document);
    lines += json.take() + "\n";
    ++count;
    return lines.size() < kFlushBytes ? Status(Done{}) : flush();
  }));
  KIN_RETURN_IF_ERROR(flush());
  if (file) KIN_RETURN_IF_ERROR(file->commit());
  if (to_stdout) return kDone;
  JsonWriter json;
  json.begin_object().field("documents", count).field("file", arguments.output).end();
  return print_result(arguments.json ? json.take() + "\n"
                                     : fmt::format("{} documents written to {}\n",
                                                   with_commas(count), arguments.output));
}

}  // namespace kin::app
