// The standard headers and CLI11, which takes four seconds to compile.
#pragma once
#include <CLI/CLI.hpp>

#include "pch.h"
