// The table a person sees when a run is over.
#pragma once

#include <string>

#include "dedup/report.h"

namespace kin::app {

std::string format_summary(const dedup::DedupReport& report);

// What a person should look at before trusting the result, a line each; empty if nothing.
std::string format_warnings(const dedup::DedupReport& report);

}  // namespace kin::app
