/// Catch2, of either major version. Tests use what both have: TEST_CASE, SECTION, REQUIRE, CHECK, CHECK_THROWS_AS, CHECK_THROWS_WITH,
/// CAPTURE, GENERATE, Approx.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
