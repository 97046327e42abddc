// Runs one function on several threads and waits for all of them.
#pragma once

#include <functional>

#include "base/result.h"

namespace kin {

// Calls work(0) … work(count - 1), each on a thread of its own (the last on the caller's), and
// returns when all have. The error of the lowest-numbered failed worker, if any failed; workers
// learn of each other's failure only through what they share.
Status run_workers(int count, const std::function<Status(int worker)>& work);

// Calls work(i) for every i in [0, items), each once, on up to `threads` threads, in no order.
// Stops handing out items after the first failure.
Status parallel_for(int threads, std::size_t items,
                    const std::function<Status(std::size_t item)>& work);

// Lowers the priority of the calling thread, for work that nobody waits for.
void give_way();

// The number of threads to use when nobody says: the cores this process may run on.
int available_cores();

}  // namespace kin
