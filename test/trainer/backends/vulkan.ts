/** The software adapter that comes with Chromium, for WebGPU where there is no GPU: its Vulkan driver and loader. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const CHROMIUM = '/usr/lib/chromium';

/**
 * Variables for a process that computes on it; a driver that is named already stays.
 * @throws Error if Chromium is not where Debian's package puts it
 */
export function softwareVulkan(): Record<string, string> {
  if (process.env['VK_DRIVER_FILES'] !== undefined) return {};
  const driver = join(CHROMIUM, 'vk_swiftshader_icd.json');
  if (!existsSync(driver)) throw new Error(`${driver} is missing: .ci/install-extra.sh installs Chromium`);
  return { VK_DRIVER_FILES: driver, LD_LIBRARY_PATH: CHROMIUM };
}
