// Long work beside requests: in the time that processors have to spare, as long as they have some.
//
//   SpareTime spare;
//   spare.run([&] { copy_a_page(); });
#pragma once

#include <atomic>
#include <functional>

#include "base/thread_priority.h"

namespace kin {

// Whether work got too little time of its processor to go on so. `was_spare`: it had spare time
// only; otherwise it had its share, and the question is whether there is spare time again.
bool is_starved(const ThreadTimes& times, bool was_spare);

// Pieces of work of one kind. Where nothing is to spare, every piece after the first gets a tenth of
// what other threads get (yield_to_other_threads()), until there is. Thread-safe.
class SpareTime {
 public:
  // Runs `work` on a thread of its own, and returns when it has ended. The caller must have the
  // usual priority. Pieces should be short, since each begins as the ones before ended.
  void run(const std::function<void()>& work);

 private:
  std::atomic<bool> starved_{false};
};

}  // namespace kin
