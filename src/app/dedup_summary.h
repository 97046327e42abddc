// The table a person sees when a run is over.
#pragma once

#include <string>

#include "dedup/report.h"

namespace kin::app {

std::string format_summary(const dedup::DedupReport& report);

}  // namespace kin::app
