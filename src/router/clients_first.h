// The pace of long work on a node: full speed while no client is served, else a part of the time.
#pragma once

#include <chrono>
#include <mutex>

#include "base/clock.h"
#include "router/requests.h"
#include "router/shard_client.h"

namespace kin::router {

struct ClientsFirstOptions {
  // Work goes slowly for so long after a client's request.
  std::chrono::nanoseconds lately = std::chrono::seconds{2};
  // After a piece all long work of the node rests so many times as long as the piece took.
  double rests = 3;
  // A turn of a thread. Others that wake up beside it may wait as long for the processor.
  std::chrono::nanoseconds turn = std::chrono::microseconds{500};
  // Limit of a rest, whatever went before: calls have deadlines.
  std::chrono::nanoseconds longest = std::chrono::milliseconds{500};
};

// Thread-safe.
class ClientsFirst final : public Pace {
 public:
  // `clock` outlives it.
  explicit ClientsFirst(Clock& clock, const ClientsFirstOptions& options = {})
      : clock_(clock), options_(options) {}

  // A client's request is served while this lives.
  class Serving {
   public:
    explicit Serving(ClientsFirst& of) : of_(of) { of_.begin(); }
    ~Serving() { of_.end(); }
    Serving(const Serving&) = delete;
    Serving& operator=(const Serving&) = delete;

   private:
    ClientsFirst& of_;
  };

  // The pace of a thread whose work takes breaths (base/breath.h). One thread only.
  class Turns {
   public:
    explicit Turns(ClientsFirst& of) : of_(of), begun_(of.clock_.steady_now()) {}
    // Rests if the turn is over.
    void go_on();

   private:
    ClientsFirst& of_;
    SteadyTime begun_;
  };

  bool has_clients() const override;
  Status rest(std::chrono::nanoseconds took) override;

 private:
  // When the next piece may begin.
  SteadyTime next_after(std::chrono::nanoseconds took);
  friend class Serving;
  void begin();
  void end();
  bool has_clients(SteadyTime now) const;  // with the lock

  Clock& clock_;
  const ClientsFirstOptions options_;
  mutable std::mutex mutex_;
  int serving_ = 0;
  SteadyTime served_ = {};  // the last one
  // Pieces that were done at the same time rest one after the other.
  SteadyTime next_ = {};
};

// Whether a client waits for the answer. The others are copies, care, and questions about the state
// of a shard.
bool is_of_client(const Request& request);

}  // namespace kin::router
