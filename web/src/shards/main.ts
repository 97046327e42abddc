import { mount } from 'svelte';
import { theme } from '../state/theme.svelte';
import '../styles/base.css';
import '../styles/tokens.css';
import ShardsPage from './ShardsPage.svelte';

theme.apply();
mount(ShardsPage, { target: document.getElementById('app')! });
