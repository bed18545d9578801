#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti convert X.json... -f srt`: the writers alone, over transcripts made earlier by Tutti, openai-whisper or its
/// relatives. `tutti convert MODEL -o FOLDER`: a model of any kind as a Hugging Face folder.
int run_convert(const std::vector<std::string>& arguments);

}  // namespace tutti
