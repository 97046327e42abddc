// Objects in memory whose calls fail, take time and lose replies when they are told to.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cloud/object_store.h"

namespace kin::cloud {

// Thread-safe. Several clients may share the objects: each is a SimulatedObjects on the same Bytes.
class SimulatedObjects final : public ObjectStore {
 public:
  // The objects themselves, which outlive every process.
  struct Bytes {
    std::mutex mutex = {};
    std::map<std::string, std::string> objects = {};
  };
  enum class Operation { kGet, kGetRanges, kCreate, kUpload, kList, kRemove };
  enum class Fate {
    kServed,
    kFails,     // kUnavailable, without an effect
    kReplyLost  // kUnavailable, after the effect
  };
  // Decides about a call before it takes effect. It may take its time: a fiber may be suspended in
  // it, and a call of another client may come first. No lock is held.
  using Decide = std::function<Fate(Operation operation, const std::string& name)>;

  explicit SimulatedObjects(std::shared_ptr<Bytes> bytes = std::make_shared<Bytes>())
      : bytes_(std::move(bytes)) {}
  void decide(Decide decide) { decide_ = std::move(decide); }
  const std::shared_ptr<Bytes>& bytes() const { return bytes_; }

  Result<std::optional<std::string>> get(const std::string& name) override;
  Result<std::vector<std::string>> get_ranges(const std::string& name,
                                              std::span<const ByteRange> ranges) override;
  Result<bool> create(const std::string& name, std::string bytes) override;
  Status upload(const std::string& name, const ObjectSource& source) override;
  Result<std::vector<std::string>> list(const std::string& prefix, int most,
                                        std::string& next) override;
  Status remove(std::span<const std::string> names) override;

 private:
  // Runs `act` with the objects locked, as the fate of the call says.
  template <typename T, typename Act>
  Result<T> call(Operation operation, const std::string& name, const Act& act) {
    const Fate fate = decide_ ? decide_(operation, name) : Fate::kServed;
    const Error lost{Code::kUnavailable, "the simulated object store does not answer"};
    if (fate == Fate::kFails) return lost;
    const std::lock_guard lock(bytes_->mutex);
    Result<T> done = act(bytes_->objects);
    if (fate == Fate::kReplyLost) return lost;
    return done;
  }

  const std::shared_ptr<Bytes> bytes_;
  Decide decide_;
};

}  // namespace kin::cloud
