// The standard headers and the test framework: what every test file includes.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pch.h"
