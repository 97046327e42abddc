// Durability tests of a store on a simulated disk: power cuts before every change of a small run,
// every call failing in turn, and bit rot in every file. The caller supplies the store.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/simulated_disk.h"

namespace kin {

// Loops over every step take only every kStride-th under sanitizers: they make the loops too slow,
// and look for other faults.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t kStride = 7;
#else
inline constexpr std::uint64_t kStride = 1;
#endif

// A store, and the model of what it must hold. Wrong answers are failures of the running test.
class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;
  // Opens the store on `disk`; makes it if it does not exist.
  virtual Status open(SimulatedDisk& disk) = 0;
  virtual bool is_open() const = 0;
  // Makes about `count` changes, expects right answers, and ends with all of them acknowledged.
  // Stops at the first error.
  virtual Status write_on(std::uint64_t count) = 0;
  // Makes everything durable, and closes.
  virtual Status close() = 0;
  // Destroys the store's object without close().
  virtual void drop() = 0;
  // Expects everything acknowledged in the open store, and nothing that was never written.
  virtual void expect_kept() = 0;
  // write_on() or close() gave `error`: expects what the store promises then.
  virtual void expect_after(const Error& error) = 0;
  // Expects that write_on() has exercised all background work of the store.
  virtual void expect_varied() {}
  // Hash of all that expect_kept() expects of a store that is opened after a crash. Nothing: not
  // known.
  virtual std::optional<Hash128> expected() const { return {}; }
  // The same history with no store open: unacknowledged changes may be there or not.
  virtual std::unique_ptr<StoreUnderTest> after_crash() const = 0;
};

std::string name_of(SimulatedDisk::Operation operation);
std::string name_of(const PowerCut& cut);
std::string name_of(const SimulatedDisk::Step& step);

// Every kind of power cut; each random kind `draws` times.
std::vector<PowerCut> every_cut(std::uint64_t seed, std::uint64_t draws);

// Counts for the report.
struct DurabilityFigures {
  std::uint64_t steps = 0;        // changes before which the power was cut, each in every way
  std::uint64_t recoveries = 0;   // states of the disk in which the store was opened and checked
  std::uint64_t repeated = 0;     // of these, the same bytes as an earlier one, and not opened again
  std::uint64_t second_cuts = 0;  // recoveries after a second run that lost power too
  std::uint64_t faults = 0;       // runs in which a call failed
  std::uint64_t unharmed = 0;     // runs that succeeded in spite of the failed call
};

// Opens a store only once in equal states of the disk of which the same is expected: what it does
// depends on nothing else. One thread only. Stops at the first failure of the running test.
class Durability {
 public:
  // `fresh`: a store that does not exist yet, with an empty model.
  explicit Durability(std::unique_ptr<StoreUnderTest> fresh) : fresh_(std::move(fresh)) {}
  // Records the figures as properties of the running test.
  ~Durability();

  // Power cuts before every change of a run of `count` changes.
  void cut_power_at_every_step(std::uint64_t count);
  // The same for a run that opens what a power cut left of one of `before` changes.
  void cut_power_at_every_step_of_a_second_run(std::uint64_t before, std::uint64_t count);
  // Runs of `count` changes; in the k-th the k-th call fails, until there is no k-th call. `only`
  // and `for_good` are those of SimulatedDisk::Fault. After each the store is opened, written on
  // and cut again.
  struct Calls {
    std::optional<SimulatedDisk::Operation> only = std::nullopt;
    bool for_good = false;
  };
  void fail_every_call(const Calls& calls, std::uint64_t count);
  // As fail_every_call() for every kind of change, for good.
  void fail_every_kind_of_change(std::uint64_t count);
  // The same, and for reads, once.
  void fail_every_kind_of_call(std::uint64_t count);
  // Expects that each failure of these calls makes the run fail.
  void expect_errors_of(std::initializer_list<SimulatedDisk::Operation> kinds, std::uint64_t count);

  const DurabilityFigures& figures() const { return figures_; }

 private:
  struct Run;
  Run run_with(const SimulatedDisk::Fault& fault, std::uint64_t count);
  bool survives(const SimulatedDisk::Fault& fault, std::uint64_t count);
  void observe_cuts(SimulatedDisk& disk, const StoreUnderTest& store);
  void cut_every_way(const SimulatedDisk& disk, const StoreUnderTest& store, std::uint64_t draws);
  void expect_recovery(SimulatedDisk& disk, const StoreUnderTest& store);
  // Expects nothing again that is known to be right. `expected` says what is expected of the state.
  void expect_recovery_once(SimulatedDisk& disk, const StoreUnderTest& store,
                            const Hash128& expected);
  // What is expected of the store now; what is not known is different each time.
  Hash128 expected_of(const StoreUnderTest& store);
  void write_on_and_cut(SimulatedDisk& disk, const StoreUnderTest& store, Random& random);
  void write_on_and_cut_at_every_step(SimulatedDisk& disk, const StoreUnderTest& store);

  std::unique_ptr<StoreUnderTest> fresh_;
  DurabilityFigures figures_;
  std::set<std::pair<Hash128, Hash128>> right_;  // states of the disk, and what was expected of them
  std::uint64_t unknown_ = 0;
};

// How a store reacts to damage.
enum class RotOutcome {
  kRefused,    // it does not open
  kReported,   // a read gives an error
  kHealed,     // it noticed, and all its answers are right
  kUnnoticed,  // all its answers are right
};

// Damages the files of a closed store one by one, each time on a copy of the disk, and passes the
// copy to `examine`. A damaged store may refuse or report, but never answers wrongly. One thread
// only. Stops at the first failure of the running test.
class Rot {
 public:
  using Examine = std::function<RotOutcome(SimulatedDisk&)>;
  explicit Rot(SimulatedDisk& disk) : disk_(disk), files_(disk.files()) {}
  ~Rot();

  // Flips a bit of every `stride`-th byte of every file. Without `copies` the disk itself is
  // damaged and restored, which is faster; `examine` must not change it then.
  struct Flips {
    std::uint64_t stride = 1;
    bool copies = true;
  };
  void flip_bits(const Flips& flips, const Examine& examine);
  void cut_files_short(const Examine& examine);
  void lose_files(const Examine& examine);
  void exchange_files(const Examine& examine);

  void note(RotOutcome outcome) { ++outcomes_[static_cast<std::size_t>(outcome)]; }
  std::uint64_t count(RotOutcome outcome) const {
    return outcomes_[static_cast<std::size_t>(outcome)];
  }
  const std::vector<std::filesystem::path>& files() const { return files_; }

 private:
  // Examines a copy of the disk after `damage` has changed files on it.
  using Damage = std::function<void(SimulatedDisk&)>;
  void examine_copy(const Damage& damage, const Examine& examine);

  SimulatedDisk& disk_;
  std::vector<std::filesystem::path> files_;
  std::array<std::uint64_t, 4> outcomes_{};
};

}  // namespace kin
