// Settings for alerts while the agent looks elsewhere. The browser is asked for permission only on a click.

import type { JSX } from 'preact';
import { Icon } from '../design/icon.tsx';
import { Menu } from '../design/menu.tsx';
import { notifyFailure } from '../notices.ts';
import { hasSound, isNotifying, permission, setNotifying, setSound } from '../notifications.ts';
import { canPush, isPushed, setPushed } from '../push.ts';

export function NoticesMenu(): JSX.Element {
  return (
    <Menu
      label="Notifications"
      class="button quiet icon-only"
      items={[
        permission.value === 'default' || permission.value === 'granted'
          ? {
              label: 'Show desktop notifications',
              checked: isNotifying.value,
              isToggle: true,
              run: () => void setNotifying(!isNotifying.peek()),
            }
          : {
              label: {
                denied: 'Your browser blocks notifications from this site',
                unsupported: 'This browser does not support notifications',
              }[permission.value],
              disabled: true,
              run: () => undefined,
            },
        ...(canPush && permission.value !== 'denied'
          ? [
              {
                label: 'Push while no page is open',
                checked: isPushed.value,
                isToggle: true,
                run: () => void setPushed(!isPushed.peek()).catch(notifyFailure),
              } as const,
            ]
          : []),
        { label: 'Play a sound', checked: hasSound.value, isToggle: true, run: () => setSound(!hasSound.peek()) },
        { kind: 'line' },
        { kind: 'link', label: 'What you are notified about', href: '/account' },
      ]}
    >
      <Icon name="bell" size={18} />
    </Menu>
  );
}
