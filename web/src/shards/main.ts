import { mount } from 'svelte';
import { clock } from '../state/clock.svelte';
import { indexes } from '../state/indexes.svelte';
import { router } from '../state/route.svelte';
import { screenState } from '../state/screen.svelte';
import { theme } from '../state/theme.svelte';
import '../styles/base.css';
import '../styles/tokens.css';
import RouterPage from './RouterPage.svelte';

theme.apply();
clock.start();
router.start();
screenState.start();
indexes.at = location.host;
mount(RouterPage, { target: document.getElementById('app')! });
