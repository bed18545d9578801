#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti review TRANSCRIPT.json...`: which finished transcripts to check by ear, and where.
int run_review(const std::vector<std::string>& arguments);

}  // namespace tutti
