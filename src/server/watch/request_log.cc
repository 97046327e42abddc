#include "server/watch/request_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/json_writer.h"
#include "base/time_text.h"

namespace kin::server {
namespace {

double milliseconds(std::chrono::nanoseconds took) {
  return std::chrono::duration<double, std::milli>(took).count();
}

}  // namespace

Result<std::unique_ptr<RequestLog>> RequestLog::open(const std::string& path, const Clock& clock) {
  std::FILE* file = path == "-" ? stderr : std::fopen(path.c_str(), "ae");
  if (file == nullptr)
    return Error{Code::kUnavailable, fmt::format("{}: cannot write the log of requests: {}", path,
                                                 std::strerror(errno))};
  return std::unique_ptr<RequestLog>(new RequestLog(file, clock));
}

RequestLog::~RequestLog() {
  if (file_ != stderr) std::fclose(file_);  // every line was flushed
}

void RequestLog::write(const AnsweredRequest& request) {
  JsonWriter json;
  json.begin_object().field("time", iso_time(clock_.now())).field("request", request.id);
  json.field("method", request.method).field("path", request.path);
  json.field("status", static_cast<std::uint64_t>(request.status));
  append(json.field("ms", milliseconds(request.took)).end().take());
}

void RequestLog::write(const rpc::ServedCall& call) {
  JsonWriter json;
  json.begin_object().field("time", iso_time(clock_.now())).field("request", call.request_id);
  json.field("index", call.index).field("call", call.kind).field("outcome", call.outcome);
  append(json.field("ms", milliseconds(call.took)).end().take());
}

void RequestLog::append(std::string line) {
  line += '\n';
  const std::lock_guard lock(mutex_);
  const bool written =
      std::fwrite(line.data(), 1, line.size(), file_) == line.size() && std::fflush(file_) == 0;
  if (!written) ++lost_;
}

}  // namespace kin::server
