// Runs one function on several threads and waits for all of them.
#pragma once

#include <functional>

#include "base/result.h"

namespace kin {

// Calls work(0) … work(count - 1), each on its own thread (the last on the caller's), and returns
// when all have returned. Gives the error of the lowest-numbered failed worker. A failure does not
// stop the other workers.
Status run_workers(int count, const std::function<Status(int worker)>& work);

// Calls work(i) for every i in [0, items), each once, on up to `threads` threads, in no order.
// Stops handing out items after the first failure.
Status parallel_for(int threads, std::size_t items,
                    const std::function<Status(std::size_t item)>& work);

// Lowers the priority of the calling thread, for background work.
void give_way();

// The default number of threads: the cores this process may run on.
int available_cores();

}  // namespace kin
