#pragma once

#include <memory>
#include <string>

#include "model/gpu/card_sum.h"

namespace tutti::gpu {

// As gpu.h has them; throw what torch throws.
std::string card_sum_key_cuda();
std::shared_ptr<CardSum> make_card_sum_cuda(int index, const std::string& key, int rank, int ranks);

}  // namespace tutti::gpu
