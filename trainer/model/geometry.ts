import type { ModelConfig } from './config.ts';
import type { AttentionGeometry } from './ops.ts';

/** What attention needs of a configuration. */
export function attentionGeometry(config: ModelConfig): AttentionGeometry {
  return {
    heads: config.num_attention_heads,
    kvHeads: config.num_key_value_heads,
    headDim: config.head_dim,
    ropeTheta: config.rope_theta,
    normEpsilon: config.rms_norm_eps,
  };
}
