"""By how much openai-whisper's decoder decides: the least difference that, had it gone the other way, would have changed a
transcript. Where it is near the arithmetic's own error, another processor may rightly find another text.

`with recorded() as margins:` around a transcription; `margins.least` afterwards. Counted are, in log-probability: the first
choice over the second (greedy), a timestamp over text or text over a timestamp, the last beam kept over the first one dropped,
and the winner over the second of the finished beams.
"""
import contextlib
import math
from unittest import mock

import whisper.decoding as decoding


class Margins:
    def __init__(self):
        self.least = math.inf

    def add(self, margin):
        if math.isfinite(margin):
            self.least = min(self.least, abs(float(margin)))


class WatchedFunctional:
    """torch.nn.functional as whisper.decoding sees it, with the last log-softmax remembered."""

    def __init__(self, functional):
        self.functional, self.last = functional, None

    def __getattr__(self, name):
        return getattr(self.functional, name)

    def log_softmax(self, *arguments, **options):
        self.last = self.functional.log_softmax(*arguments, **options)
        return self.last


def timestamp_rule(original, watched, margins):
    def apply(self, logits, tokens):
        original(self, logits, tokens)
        begin = self.tokenizer.timestamp_begin
        for k, row in enumerate(watched.last):
            if tokens[k, -1] != self.tokenizer.eot:
                margins.add((row[begin:].logsumexp(dim=-1) - row[:begin].max()).item())
    return apply


def greedy_choice(original, margins):
    def update(self, tokens, logits, sum_logprobs):
        for k, row in enumerate(logits.float().log_softmax(dim=-1)):
            if tokens[k, -1] != self.eot:
                first, second = row.topk(2).values.tolist()
                margins.add(first - second)
        return original(self, tokens, logits, sum_logprobs)
    return update


def beams_kept(original, margins):
    def update(self, tokens, logits, sum_logprobs):
        assert tokens.shape[0] == self.beam_size, "one recording at a time"
        scores = {}
        for j, row in enumerate(logits.float().log_softmax(dim=-1)):
            values, choices = row.topk(self.beam_size + 1)
            for value, token in zip(values.tolist(), choices.tolist()):
                scores[tuple(tokens[j].tolist() + [token])] = sum_logprobs[j].item() + value
        kept, last = 0, None
        for sequence in sorted(scores, key=scores.get, reverse=True):
            if kept == self.beam_size:
                margins.add(last - scores[sequence])
                break
            last = scores[sequence]
            kept += sequence[-1] != self.eot
        return original(self, tokens, logits, sum_logprobs)
    return update


def winner(original, margins):
    def rank(self, tokens, sum_logprobs):
        for candidates, sums in zip(tokens, sum_logprobs):
            scores = sorted((total / (len(text) if self.length_penalty is None else
                                      ((5 + len(text)) / 6) ** self.length_penalty)
                             for text, total in zip(candidates, sums)), reverse=True)
            if len(scores) > 1:
                margins.add(scores[0] - scores[1])
        return original(self, tokens, sum_logprobs)
    return rank


@contextlib.contextmanager
def recorded():
    margins, watched = Margins(), WatchedFunctional(decoding.F)
    with contextlib.ExitStack() as stack:
        for owner, name, made in [
                (decoding, "F", watched),
                (decoding.ApplyTimestampRules, "apply",
                 timestamp_rule(decoding.ApplyTimestampRules.apply, watched, margins)),
                (decoding.GreedyDecoder, "update", greedy_choice(decoding.GreedyDecoder.update, margins)),
                (decoding.BeamSearchDecoder, "update", beams_kept(decoding.BeamSearchDecoder.update, margins)),
                (decoding.MaximumLikelihoodRanker, "rank", winner(decoding.MaximumLikelihoodRanker.rank, margins))]:
            stack.enter_context(mock.patch.object(owner, name, made))
        yield margins
