// A line for each request, for people and programs that read logs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "rpc/node_server.h"

namespace kin::server {

// A request over HTTP that was answered.
struct AnsweredRequest {
  std::string_view id = {};
  std::string_view method = {};
  std::string_view path = {};  // without the query, which may be private
  int status = 0;
  std::chrono::nanoseconds took = {};
};

// Writes JSON objects, one a line: {"time": …, "request": ID, …, "ms": …}. Thread-safe.
class RequestLog {
 public:
  // Appends to the file, which need not exist; "-" is standard error. `clock` must outlive it.
  static Result<std::unique_ptr<RequestLog>> open(const std::string& path, const Clock& clock);
  ~RequestLog();
  RequestLog(const RequestLog&) = delete;
  RequestLog& operator=(const RequestLog&) = delete;

  void write(const AnsweredRequest& request);
  void write(const rpc::ServedCall& call);

  // Lines that could not be written, because the disk is full for example. Requests go on.
  std::uint64_t lost() const { return lost_; }

 private:
  RequestLog(std::FILE* file, const Clock& clock) : file_(file), clock_(clock) {}
  void append(std::string line);

  std::FILE* file_;
  const Clock& clock_;
  std::mutex mutex_;  // lines stay whole
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace kin::server
