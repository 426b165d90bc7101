/** Versions and sums of what setup takes from PyPI and npm. TensorFlow's wheels hold libtensorflow; NVIDIA's, its CUDA. */

/** A wheel for Linux on x86-64. pip checks the sum. */
export interface Wheel {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
  /** Megabytes to download. */
  readonly megabytes: number;
}

export const TFJS_VERSION = '4.22.0';
export const NODE_API_HEADERS_VERSION = '1.9.0';
export const DAWN_VERSION = '0.6.2';

export const TENSORFLOW: Readonly<Record<'tfjs-node' | 'tfjs-node-gpu', Wheel>> = {
  'tfjs-node': {
    ...{ name: 'tensorflow-cpu', version: '2.21.0', megabytes: 274 },
    sha256: '2b847d217b02ee7731ed91431daf3250daa0196c3c94614d23be27232e6e5b6c',
  },
  'tfjs-node-gpu': {
    ...{ name: 'tensorflow', version: '2.21.0', megabytes: 572 },
    sha256: '9056fbc9ba04235810b71ae6cbd958a196e8804fb53bbcffbf3e23b56155f124',
  },
};

/** What the wheel `tensorflow[and-cuda]` asks for, without the compiler (XLA's) that tfjs does not use. */
export const CUDA: readonly Wheel[] = [
  {
    ...{ name: 'nvidia-cublas-cu12', version: '12.9.3.13', megabytes: 581 },
    sha256: 'd7d51055f161b317c7105ddaae90e71eda059026074ffef93cf7cde2886bfe72',
  },
  {
    ...{ name: 'nvidia-cuda-cupti-cu12', version: '12.8.90', megabytes: 10 },
    sha256: 'ea0cb07ebda26bb9b29ba82cda34849e73c166c18162d3913575b0c9db9a6182',
  },
  {
    ...{ name: 'nvidia-cuda-nvrtc-cu12', version: '12.9.86', megabytes: 90 },
    sha256: '210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4',
  },
  {
    ...{ name: 'nvidia-cuda-runtime-cu12', version: '12.9.79', megabytes: 3 },
    sha256: '25bba2dfb01d48a9b59ca474a1ac43c6ebf7011f1b0b8cc44f54eb6ac48a96c3',
  },
  {
    ...{ name: 'nvidia-cudnn-cu12', version: '9.28.0.42', megabytes: 717 },
    sha256: '9ff58b7f36dacd0a93e89f8f2957b52466889217963701daa15e577317cfa375',
  },
  {
    ...{ name: 'nvidia-cufft-cu12', version: '11.4.1.4', megabytes: 201 },
    sha256: 'c67884f2a7d276b4b80eb56a79322a95df592ae5e765cf1243693365ccab4e28',
  },
  {
    ...{ name: 'nvidia-curand-cu12', version: '10.3.10.19', megabytes: 68 },
    sha256: '49b274db4780d421bd2ccd362e1415c13887c53c214f0d4b761752b8f9f6aa1e',
  },
  {
    ...{ name: 'nvidia-cusolver-cu12', version: '11.7.5.82', megabytes: 338 },
    sha256: '15da72d1340d29b5b3cf3fd100e3cd53421dde36002eda6ed93811af63c40d88',
  },
  {
    ...{ name: 'nvidia-cusparse-cu12', version: '12.5.10.65', megabytes: 366 },
    sha256: '73060ce019ac064a057267c585bf1fd5a353734151f87472ff02b2c5c9984e78',
  },
  {
    ...{ name: 'nvidia-nccl-cu12', version: '2.32.3', megabytes: 352 },
    sha256: 'bb94b2348e4861d5e8aa00b36c3d12d9bdf9c6369b82cbb723de0b582280a21c',
  },
  {
    ...{ name: 'nvidia-nvjitlink-cu12', version: '12.9.86', megabytes: 40 },
    sha256: 'e3f1171dbdc83c5932a45f0f4c99180a70de9bd2718c1ab77d14104f6d7147f9',
  },
];
