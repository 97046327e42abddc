// What a running process tells Prometheus.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kin::server {

// A figure that is read when somebody asks for it.
struct Gauge {
  std::string name = {};  // "kindred_shard_entities"
  std::string help = {};
  std::vector<std::pair<std::string, std::string>> labels = {};
  double value = 0;
};

// Counts and times of what the process did since it started. Thread-safe.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // A request over HTTP was answered. `route` is its pattern, so that there are few of them; empty
  // for a request that was refused before it had one.
  void answered(std::string_view route, std::string_view method, int status,
                std::chrono::nanoseconds took);
  // A call to a node ended; `outcome` as router::outcome_of() says.
  void called(std::string_view node, std::string_view kind, std::string_view outcome,
              std::chrono::nanoseconds took);
  // A router called a follower of a shard because its owner was "slow", "silent" or "away"; or used
  // the answer of such a call.
  void asked_follower(std::string_view index, std::string_view why);
  void follower_answered(std::string_view index, std::string_view why);
  // A read was answered from a state that is so old at most.
  void read_stale(std::string_view index, std::chrono::nanoseconds behind);
  // Calls from the node's side.
  void served(std::string_view index, std::string_view kind, std::string_view outcome,
              std::chrono::nanoseconds took);

  // All of it in Prometheus' text format 0.0.4, with the memory and the open files of the process.
  // Gauges of one name come one after another.
  std::string text(const std::vector<Gauge>& gauges = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kin::server
